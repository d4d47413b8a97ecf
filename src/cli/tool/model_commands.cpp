// Commands about trained models. They need LibTorch, so the driver checks their arguments and hands
// them on to the worker.

#include "cli/commands.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "model/generate/sampling_config.h"
#include "report/export/export.h"
#include "study/study.h"
#include "study/targets.h"
#include "util/files.h"
#include "util/process.h"

namespace difflab::cli {
namespace {

struct ExportOptions {
  std::vector<std::string> words;
  std::string to;
};

// Runs without a line of metrics are said, not exported.
std::vector<report::ExportedRun> runs_with_curves(const std::vector<Target>& targets) {
  std::vector<report::ExportedRun> runs;
  int empty = 0;
  for (const auto& run : runs_of(targets)) {
    if (read_metrics(run.directory).empty()) {
      ++empty;
    } else {
      runs.push_back({run.id, run.label(), run.axes, run.directory});
    }
  }
  if (runs.empty()) {
    throw UserError(concat("none of the runs of ", title_of(targets), " has metrics yet"));
  }
  if (empty > 0) std::cerr << fmt::format("{} runs have no metrics yet and are left out\n", empty);
  return runs;
}

void export_csv(const ExportOptions& options) {
  const auto text = report::metrics_csv(runs_with_curves(find_targets(options.words)));
  if (options.to.empty()) {
    std::cout << text << std::flush;
  } else {
    write_named_file(fs::absolute(options.to), text);
  }
}

fs::path folder_for(const ExportOptions& options, const std::vector<Target>& targets) {
  if (!options.to.empty()) return fs::absolute(options.to).lexically_normal();
  const auto& target = targets.front();
  const bool sweep = !target.is_results && target.folder != target.runs.front().directory.path;
  if (targets.size() == 1 && sweep) return target.folder / "tensorboard";
  throw UserError("these runs have no common output folder; name one with --to FOLDER");
}

void export_tensorboard(const ExportOptions& options) {
  const auto targets = find_targets(options.words);
  const auto runs = runs_with_curves(targets);
  const auto folder = folder_for(options, targets);
  report::export_tensorboard(runs, folder);
  std::cout << fmt::format(
      "wrote the curves of {} runs; see them with\n  tensorboard --logdir {}\n", runs.size(),
      quoted_for_shell(config::shown_path(folder)));
}

CLI::App* add_kind(CLI::App& command, const char* name, const char* about,
                   const std::shared_ptr<ExportOptions>& options, const char* to) {
  auto* kind = command.add_subcommand(name, about);
  kind->add_option("what", options->words,
                   "outputs of frozen sweeps, experiments (KEY=VALUE as for sweep), results "
                   "folders, runs")
      ->required();
  kind->add_option("--to", options->to, to);
  return kind;
}

// The kinds of `export` that write curves: csv and tensorboard.
void add_curve_exports(CLI::App& command) {
  const auto options = std::make_shared<ExportOptions>();
  add_kind(command, "csv", "Write the curves of runs as one table in long form", options,
           "the file; by default standard output")
      ->callback([options] { export_csv(*options); });
  add_kind(command, "tensorboard", "Write the curves of runs for TensorBoard", options,
           "the log folder; by default tensorboard/ in the sweep's output")
      ->callback([options] { export_tensorboard(*options); });
}

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

// The package's folder comes first, then what the module is given.
constexpr const char* kRunModule =
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('difflab._hugging_face', run_name='__main__', alter_sys=True)";

void export_hugging_face(const fs::path& run, const fs::path& folder) {
  const ScratchFolder scratch("export");
  const auto file = (scratch.path() / "weights.safetensors").string();
  const auto package = installing_python().empty() ? find_checkout() / "src" / "python"
                                                   : executable_path().parent_path() / ".." / "..";
  auto convert = python();
  convert.insert(convert.end(), {"-c", kRunModule, package.string(), file, folder.string()});
  for (const auto& argv :
       {std::vector{find_worker().string(), std::string("export"), run.string(), file}, convert}) {
    const Printed printed = run_program(argv, OnStop::kKill);
    if (printed.status.success()) continue;
    std::string reason = last_line(printed.errors);
    if (reason.starts_with("error: ")) reason.erase(0, reason.find(' ') + 1);
    throw UserError(reason.empty() ? printed.status.text() : reason);
  }
  std::cout << "wrote " << folder.string() << '\n';
}

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
  CLI::App* folder = command->add_subcommand(
      "hf", "Write a trained model as a folder that transformers' from_pretrained loads");
  options->run.add_to(*folder)->required();
  folder->add_option("--to", options->file, "a new folder")->required();
  folder->callback([options] {
    export_hugging_face(options->run.folder(), fs::absolute(options->file).lexically_normal());
  });
  command->callback([options, command] {
    if (!command->get_subcommands().empty()) return;
    if (options->run.run.empty() || options->file.empty()) {
      throw UserError(
          "expected export RUN --to FILE for the parameters of a run, or a kind: "
          "export csv, export tensorboard, export hf");
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
  command->add_option("--seed", sampling.seed, "seed of the draws")->capture_default_str();
  command->callback([options] {
    const auto asked = config::write(options->sampling);
    config::read<Sampling>(asked, "generate");  // the limits of each
    become_worker(
        {"generate", options->run.folder(), config::canonical_json(asked), options->prompt});
  });
}

}  // namespace

void add_model_commands(CLI::App& app) {
  add_generate_command(app);
  add_export_command(app);
  add_verify_command(app);
}

}  // namespace difflab::cli
