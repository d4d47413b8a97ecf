#include "worker/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "experiment/saved_run.h"
#include "experiment/verify/reference_case.h"
#include "model/generate/generate.h"
#include "task/sample_view.h"
#include "task/task_config.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

Json to_json(const std::vector<CaseReport>& reports) {
  Json cases = Json::array();
  for (const auto& report : reports) {
    Json tensors = Json::array();
    for (const auto& error : report.errors) {
      tensors.push_back({{"tensor", error.tensor},
                         {"precision", error.precision},
                         {"kernels", error.kernels},
                         {"relative_error", error.error},
                         {"tolerance", error.tolerance},
                         {"passed", error.passed()}});
    }
    cases.push_back({{"case", report.name}, {"passed", report.passed()}, {"tensors", tensors}});
  }
  return cases;
}

// One line per tensor, both precisions side by side.
void print(const CaseReport& report) {
  std::cout << fmt::format("{}\n", report.name);
  std::vector<std::string> names;
  for (const auto& error : report.errors) {
    if (!is_among(error.tensor, names)) names.push_back(error.tensor);
  }
  for (const auto& name : names) {
    std::string line = fmt::format("  {:<36}", name);
    for (const auto& error : report.errors) {
      if (error.tensor != name) continue;
      line += fmt::format("  {} {} {:8.1e}", error.precision, error.kernels, error.error);
      if (!error.passed()) line += fmt::format(" FAILED (> {:.0e})", error.tolerance);
    }
    std::cout << line << '\n';
  }
}

// Symbols have no letters: their tokens are written as numbers.
class Text {
 public:
  explicit Text(const RunConfig& config) : tokenizer_(read_tokenizer(config.task)) {}

  std::vector<std::int64_t> encode(const std::string& prompt, std::int64_t vocab_size) const {
    if (tokenizer_) return tokenizer_->encode(prompt);
    std::vector<std::int64_t> tokens;
    std::istringstream words(prompt);
    bool known = true;
    for (std::string word; words >> word;) {
      tokens.push_back(parse_whole<std::int64_t>(word).value_or(-1));
      known = known && tokens.back() >= 0 && tokens.back() < vocab_size;
    }
    if (!known) {
      throw UserError(
          fmt::format("--prompt is '{}'; this run's tokens are numbers from 0 to {}, "
                      "expected some with blanks between them",
                      prompt, vocab_size - 1));
    }
    return tokens;
  }
  std::string decode(std::int64_t token) const {
    if (!tokenizer_) return fmt::format("{} ", token);
    return tokenizer_->decode(std::vector{token});
  }

 private:
  std::optional<Tokenizer> tokenizer_;
};

}  // namespace

int verify_command(const std::vector<std::string>& arguments) {
  const bool json = arguments.size() > 1 && arguments[1] == "--json";
  const auto reports = verify_folder(arguments.at(0));
  const auto failed =
      std::count_if(reports.begin(), reports.end(), [](const auto& r) { return !r.passed(); });
  if (json) {
    std::cout << to_json(reports).dump(1) << '\n';
  } else {
    for (const auto& report : reports) print(report);
    std::cout << fmt::format("\n{} cases, {} failed\n", reports.size(), failed);
  }
  return failed == 0 ? 0 : 1;
}

int export_command(const std::vector<std::string>& arguments) {
  export_run({arguments.at(0)}, arguments.at(1));
  std::cout << "wrote " << arguments.at(1) << '\n';
  return 0;
}

int generate_command(const std::vector<std::string>& arguments) {
  const auto sampling = config::read<Sampling>(config::parse_yaml(arguments.at(1), "--sampling"));
  const auto& prompt = arguments.at(2);
  const auto saved = load_run({arguments.at(0)});
  const Text text(saved.config);
  const auto tokens = text.encode(prompt, saved.task->vocab_size());
  if (!saved.finished) std::cerr << "note: this run is not finished\n";
  if (tokens.empty()) throw UserError("--prompt is empty; expected at least one token");
  for (const auto token : tokens) std::cout << text.decode(token);
  std::cout << std::flush;
  generate(*saved.model, tokens, sampling, saved.task->sequence_length(), Decoding::kCached,
           [&](std::int64_t token) { std::cout << text.decode(token) << std::flush; });
  std::cout << '\n';
  return 0;
}

namespace {

/// So that a task can be read alone.
struct TaskField {
  TaskConfig task;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("task", task, "what samples are shown of");
  }
};

}  // namespace

int show_command(const std::vector<std::string>& arguments) {
  const auto config = config::read<TaskField>(config::parse_yaml(arguments.at(0), "show"));
  const auto view =
      samples_json(*build_task(config.task), std::stoull(arguments.at(1)),
                   static_cast<Split>(std::stoull(arguments.at(2))), std::stoll(arguments.at(3)));
  const bool json = arguments.size() > 4 && arguments[4] == "--json";
  std::cout << (json ? view.dump(1) + "\n" : samples_text(view));
  return 0;
}

}  // namespace difflab
