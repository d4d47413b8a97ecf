#include "cli/commands.h"

namespace difflab::cli {

void add_study_arguments(CLI::App& command, StudyArguments& arguments) {
  command
      .add_option("experiment", arguments.name,
                  "a file in experiments/, e.g. headline; sweep also takes several "
                  "(headline,char_lm) or all")
      ->required();
  command.add_option(
      "overrides", arguments.overrides,
      "preset=smoke, key=value, group=option; key=a,b or key=range(3) on a key makes it a sweep "
      "axis; results=DIR says where everything goes");
}

}  // namespace difflab::cli
