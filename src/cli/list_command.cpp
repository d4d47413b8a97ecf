#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/project.h"
#include "config/compose.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

constexpr const char* kExperiments = "experiment";

// A file that cannot be read is listed, too: with what is wrong with it.
std::string title_of(config::Library& library, const std::string& experiment) {
  try {
    const auto* document = library.find(concat(kExperiments, "/", experiment));
    const auto* title = document == nullptr ? nullptr : document->root.find("title");
    return title != nullptr && title->is_scalar() ? title->as_string() : "";
  } catch (const UserError& error) {
    return error.what();
  }
}

void list_experiments(config::Library& library) {
  const auto names = library.options(kExperiments);
  std::size_t width = 0;
  for (const auto& name : names) width = std::max(width, name.size());
  for (const auto& name : names) {
    std::cout << fmt::format("{:<{}}  {}\n", name, width, title_of(library, name));
  }
}

void list_groups(config::Library& library, const std::string& group) {
  for (const auto& name : library.groups(group)) {
    const std::string path = group.empty() ? name : concat(group, "/", name);
    if (const auto options = library.options(path); !options.empty() && path != kExperiments) {
      std::cout << path << ": " << join(options) << '\n';
    }
    list_groups(library, path);
  }
}

}  // namespace

void add_list_command(CLI::App& app) {
  const auto what = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("list", "Say which experiments or config groups there are");
  command->add_option("what", *what, "experiments or groups")
      ->required()
      ->check(CLI::IsMember({"experiments", "groups"}));
  command->callback([what] {
    config::Library library(config::SearchPath::of_project(find_project()));
    *what == "groups" ? list_groups(library, "") : list_experiments(library);
  });
}

}  // namespace difflab::cli
