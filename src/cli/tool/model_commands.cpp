// Commands about trained models. They need LibTorch, so the driver checks their arguments and hands
// them on to the worker.
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/tool/export_command.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "model/generate/sampling_config.h"
#include "study/project.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

struct RunArgument {
  std::string run;
  std::string results;

  CLI::Option* add_to(CLI::App& command) {
    command.add_option("--results", results, "results folder that holds the run");
    return command.add_option("run", run, "id of a run, its beginning, or the run's folder");
  }
  std::string folder() const {
    const auto place = results.empty() ? find_project() / "results" : fs::absolute(results);
    return find_run(run, place).path.string();
  }
};

}  // namespace

void add_verify_command(CLI::App& app) {
  struct Options {
    std::string folder;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "verify", "Compare the modules with a folder of reference cases (outputs and gradients)");
  command->add_option("folder", options->folder, "folder with *.safetensors cases")->required();
  command->add_flag("--json", options->json, "the same as JSON");
  command->callback([options] {
    std::vector<std::string> arguments{"verify", options->folder};
    if (options->json) arguments.push_back("--json");
    become_worker(arguments);
  });
}

void add_export_command(CLI::App& app) {
  struct Options {
    RunArgument run;
    std::string file;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "export",
      "Write a run's parameters as safetensors under their official names, or the curves of runs");
  options->run.add_to(*command);
  command->add_option("--to", options->file, "the file to write");
  add_curve_exports(*command);
  command->callback([options, command] {
    if (!command->get_subcommands().empty()) return;
    if (options->run.run.empty() || options->file.empty()) {
      throw UserError(
          "expected export RUN --to FILE for the parameters of a run, or a kind: "
          "export csv, export tensorboard");
    }
    become_worker({"export", options->run.folder(), options->file});
  });
}

void add_generate_command(CLI::App& app) {
  struct Options {
    RunArgument run;
    std::string prompt = "\n";
    Sampling sampling;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("generate", "Let a trained model continue a text");
  options->run.add_to(*command)->required();
  command->add_option("--prompt", options->prompt,
                      "the text; token numbers if the run's task has no text");
  auto& sampling = options->sampling;
  command->add_option("--tokens", sampling.tokens, "tokens to write")->capture_default_str();
  command->add_option("--temperature", sampling.temperature, "0: always the most likely token")
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "draw from the k most likely tokens; 0: from all")
      ->capture_default_str();
  command->add_option("--seed", sampling.seed, "another seed, another text")->capture_default_str();
  command->callback([options] {
    const auto asked = config::write(options->sampling);
    config::read<Sampling>(asked, "generate");  // the limits of each
    become_worker(
        {"generate", options->run.folder(), config::canonical_json(asked), options->prompt});
  });
}

}  // namespace difflab::cli
