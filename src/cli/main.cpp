#include <csignal>
#include <cstdlib>
#include <exception>

#include "cli/commands.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "run/metrics.h"
#include "util/process.h"
#include "util/terminal/streams.h"

namespace difflab::cli {
namespace {

constexpr const char* kDescription =
    "difflab: experiments with small Differential Transformers.\n"
    "An experiment is one YAML file in experiments/; a sweep runs all its variants and writes a\n"
    "table, figures and a report. Finished runs are kept and never run twice.\n";

// Two for each command; those before an empty line are the way through an experiment.
constexpr const char* kExamples = R"(list experiments                     what there is
sweep headline                       run it (again: run what is missing), report
sweep headline preset=smoke          a run of seconds, to see it work
sweep headline --dry-run             check everything, list the runs, run nothing
sweep headline 'seed=range(5)' train.steps=2000 model=diff,transformer
evaluate headline 'evaluate=[{kind: needle_grid}]'   ask the trained models more
watch headline                       see it go on, from another terminal
report headline                      table and figures from the finished runs
report --all                         the gallery: results/README.md, index.html
referee                              what the committed results may not say
config headline model=diff           the configuration that a run gets
show task=mqar                       samples of a task, as the model sees them
data                                 texts to train on, and how to get them

evaluate RUN 'evaluate=[{kind: heldout}]' --on task.needle.length=256
needle headline --lengths 64,256     accuracy of its models by length and depth
needle RUN --needles 1,2,4 --samples 500
work results/headline/default        execute a frozen sweep, beside others
work results/mqar/reference          another one, from any machine that sees it
status results/headline/default      how many runs are done, running, abandoned
status results/headline/default --json
wait results/headline/default        until all runs have finished
wait results/mqar/reference
cancel results/headline/default      end its tasks; resume continues
cancel results/mqar/reference
resume results/headline/default      submit again what no task works on
resume results/mqar/reference
logs RUN                             what a run has printed
logs results/headline/default -f     what happens to a sweep, as it happens
watch                                all unfinished runs
runs state=failed                    which failed
runs --page all-runs --live          a page to filter, group, compare; stays up to date
runs task.kind=mqar 'valid_accuracy > .9' --sort -metrics.valid_accuracy
plot headline                        the same as report headline
referee headline                     what one reference may not say, and what to do
reproduce headline                   make eight of its runs again, compare every number
reproduce RUN                        the same of one run
restore headline                     its committed runs count as finished
restore headline --to results/copy   the same in another results folder
config headline --why train.lr       which file or override a value comes from
compare RUN RUN                      the keys in which runs differ, and their metrics
compare headline --by init           groups of an experiment, paired by seed
list attention                       all kinds of attention; also task, evaluation, keys
params headline                      parameters of each model, by part
params --d-model 1024 --layers 24 --vocab 50257   of dimensions alone
flops headline                       operations, intensity, cache
flops --d-model 1024 --layers 24 --vocab 50257
show task=needle task.length=32 --samples 2
generate RUN --prompt 'ROMEO:'       let a model continue a text
generate RUN --prompt 'ROMEO:' --tokens 200
export RUN --to weights.safetensors  parameters under their official names
export hf RUN --to my-model          a folder for transformers' from_pretrained
export csv headline                  the curves of all runs
verify tests/model/reference         outputs and gradients against the official modules
verify tests/model/reference --json
bench attention                      time the kernels
bench train --threads 2              time training steps
data tinyshakespeare --from download
completion bash                      for bash: source <(difflab completion bash)
completion zsh                       the same for zsh)";

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 some runs failed, 2 something for you to fix, 70 a bug of difflab,\n"
    "130 interrupted (the same command continues).";

// The examples of one command, or the way through an experiment.
std::string examples_of(const std::string& command) {
  std::string text = "Examples\n";
  for (const auto& line : split(kExamples, '\n')) {
    if (command.empty() && line.empty()) break;
    const bool is_shown = command.empty() || line.substr(0, line.find(' ')) == command;
    if (is_shown) text += concat("  ", program_name(), " ", line, "\n");
  }
  return text + "\n" + kExitCodes;
}

// Shown without arguments: the way from nothing to an answer.
constexpr const char* kFirstSteps =
    "difflab " DIFFLAB_VERSION
    ": experiments with small Differential Transformers\n"
    "\n"
    "  ./difflab list experiments     the questions there are\n"
    "  ./difflab sweep NAME           train what is missing; then table, figures and report\n"
    "  ./difflab watch NAME           see it go on, from another terminal\n"
    "  ./difflab runs                 every run there is\n"
    "  ./difflab needle RUN           ask a trained model: accuracy by length and depth\n"
    "\n"
    "./difflab --help lists all commands, ./difflab COMMAND --help the options of one.\n";

// A message with the program's name as a person calls it.
std::string as_called(std::string message) {
  report::replace_all(message, "./difflab", program_name());
  return message;
}

// Everything that is written about arguments is JSON, YAML or HTML.
void require_text(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view rest = argv[i];
    while (!rest.empty()) {
      const auto length = utf8_length(rest);
      if (length == 0) {
        throw UserError(concat("argument ", i, " is not UTF-8 text: ", argv[i]));
      }
      rest.remove_prefix(length);
    }
  }
}

// CLI11 would take the next argument, also a "--", for the missing value.
void refuse_empty_values(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw UserError(concat("argument ", i, ", ", word, ", has no value"));
    }
  }
}

// "there is no option --length of needle; did you mean --lengths?", or nothing.
std::string unknown_option(const CLI::App& command, const std::vector<std::string>& words) {
  std::vector<std::string> options;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) options.push_back("--" + name);
  }
  for (const auto& word : words) {
    const auto name = word.substr(0, word.find('='));
    if (word == "--") break;
    if (!word.starts_with("--") || std::ranges::find(options, name) != options.end()) continue;
    return concat("there is no option ", name, " of ", words.front(), suggestion(name, options));
  }
  return "";
}

// Says what was wrong with the command line, or what --help asked for.
int exit_code_of(const CLI::ParseError& error, const CLI::App& app,
                 const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words.front();
  const bool takes_values = command == "sweep" || command == "config" || command == "evaluate";
  const bool is_hydras = std::ranges::any_of(
      words, [](const std::string& word) { return word == "-m" || word == "--multirun"; });
  // CLI11 only says that one of them is required.
  std::vector<std::string> known;
  const CLI::App* used = &app;
  for (const auto* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (one->check_name(command)) used = one;
    known.push_back(one->get_name());
    for (const auto& alias : one->get_aliases()) known.push_back(alias);
  }
  if (!command.empty() && command.front() != '-' &&
      std::ranges::find(known, command) == known.end()) {
    std::cerr << concat("error: there is no command ", command, suggestion(command, known), "\n");
    return kUserError;
  }
  const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (const auto wrong = is_unknown && !is_hydras ? unknown_option(*used, words) : "";
      !wrong.empty()) {
    std::cerr << "error: " << wrong << '\n';
    return kUserError;
  }
  if (!is_hydras || !takes_values || !is_unknown) return app.exit(error) == 0 ? 0 : kUserError;
  std::cerr << "error: -m is not needed: several values, as in model=diff,transformer, are a "
               "sweep\n";
  return kUserError;
}

// Threads of a worker that wait for each other spin for a moment before they sleep. With libgomp's
// own patience, 30 times as long, they take the cores from whom they wait for wherever others use
// them: two threads beside two busy processes are up to nine times as slow (bench/busy). An idle
// machine shows no difference.
void let_waiting_threads_sleep_soon() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr)
    ::setenv("GOMP_SPINCOUNT", "3000", /*overwrite=*/0);
}

// Runs say from which sources they are: the worker asks for them where this says.
void name_checkout() {
  if (std::getenv("DIFFLAB_ROOT") != nullptr) return;
  try {
    ::setenv("DIFFLAB_ROOT", find_checkout().c_str(), /*overwrite=*/0);
  } catch (const UserError&) {  // whoever needs one says so
  }
}

int run_command_line(int argc, char** argv) {
  // A file that may not grow further is an error of that write, not the end of the program; the
  // worker inherits this.
  std::signal(SIGXFSZ, SIG_IGN);
  if (argc == 1) {
    std::cout << as_called(kFirstSteps);
    return 0;
  }
  let_waiting_threads_sleep_soon();
  report::declare_metrics(metrics_of_evaluations());
  CLI::App app{kDescription, "difflab"};
  app.footer(examples_of(""));
  app.set_version_flag("--version", "difflab " DIFFLAB_VERSION);
  app.require_subcommand(1);
  app.add_option_function<std::string>(
      "--project", [](const std::string&) {},  // see take_project
      "A folder of your own with experiments/ or configs/ in it: they come before "
      "difflab's, and results/ and data/ are there; also $DIFFLAB_PROJECT");
  for (auto* add :
       {add_sweep_command,      add_evaluate_command, add_needle_command,    add_work_command,
        add_jobs_commands,      add_logs_command,     add_watch_command,     add_runs_commands,
        add_report_command,     add_referee_command,  add_reproduce_command, add_restore_command,
        add_config_command,     add_compare_command,  add_list_command,      add_cost_commands,
        add_show_command,       add_model_commands,   add_bench_command,     add_data_command,
        add_completion_commands}) {
    add(app);
  }
  for (auto* command : app.get_subcommands({})) command->footer(examples_of(command->get_name()));

  std::vector<std::string> words(argv + 1, argv + argc);
  try {
    require_text(argc, argv);
    refuse_empty_values(argc, argv);
    take_project(words);
    name_checkout();
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as CLI11 wants it
    return kDone;
  } catch (const CLI::RuntimeError& end) {  // of exit_with
    return end.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return exit_code_of(error, app, words);
  } catch (const UserError& error) {
    std::cerr << "error: " << as_called(error.what()) << '\n';
    return kUserError;
  } catch (const std::filesystem::filesystem_error& error) {
    // A name that is too long, a loop of links, a folder that may not be looked into.
    std::cerr << "error: " << error.path1().string() << ": " << error.code().message() << '\n';
    return kUserError;
  } catch (const std::exception& error) {
    std::cerr << "internal error (please report it): " << error.what() << '\n';
    return kBug;
  }
}

}  // namespace
}  // namespace difflab::cli

int main(int argc, char** argv) {
  const difflab::StandardStreams streams;
  return streams.finish(difflab::cli::run_command_line(argc, argv));
}
