// difflab referee: what a hostile referee would say of the committed references.

#include "cli/commands.h"
#include "cli/runs/named_references.h"
#include "referee/referee.h"

namespace difflab::cli {
namespace {

struct RefereeOptions {
  std::vector<std::string> words;
  bool json = false;
};

}  // namespace

void add_referee_command(CLI::App& app) {
  const auto options = std::make_shared<RefereeOptions>();
  CLI::App* command = app.add_subcommand(
      "referee", "Judge the committed references: what each may not say, where, what to do");
  command->add_option("experiments", options->words,
                      "names below results/ that have a reference; none: all; results=DIR says "
                      "where");
  command->add_flag("--json", options->json, "the objections as JSON");
  command->callback([options] {
    const auto asked = named_references(options->words);
    const auto& names = asked.names;
    auto objections = referee::judge(referee::read_references(asked.results));
    std::erase_if(objections, [&](const auto& one) { return !is_among(one.experiment, names); });
    if (options->json) {
      std::cout << referee::to_json(names, objections).dump(1) << '\n';
    } else if (objections.empty()) {
      std::cout << fmt::format("{} references, {} rules: nothing to object\n", names.size(),
                               referee::rules().size());
    } else {
      std::cout << referee::to_text(objections)
                << fmt::format("\n{} objections to {} references\n", objections.size(),
                               names.size());
    }
    exit_with(objections.empty() ? kDone : kFailed);
  });
}

}  // namespace difflab::cli
