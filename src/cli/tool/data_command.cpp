#include <chrono>

#include "cli/commands.h"
#include "text/data_set.h"
#include "util/files.h"
#include "util/process.h"

namespace difflab::cli {
namespace {

using std::chrono::steady_clock;

constexpr const char* kList = "list";
constexpr const char* kDownload = "download";
constexpr std::chrono::seconds kPatience{120};  // for a whole download

// Python reads its proxies and certificates as the rest of the machine does. It takes one byte more
// than expected, so that a longer answer shows, and no more.
constexpr const char* kFetch = R"(import sys, urllib.request
url, file, most = sys.argv[1:]
try:
    with urllib.request.urlopen(url, timeout=30) as answer:
        data = answer.read(int(most) + 1)
except Exception as error:
    sys.exit(str(getattr(error, "reason", None) or error or type(error).__name__))
with open(file, "wb") as out:
    out.write(data)
)";

std::string download(const DataSet& set) {
  const ScratchFolder folder("download");
  const auto file = folder.path() / set.file_name();
  std::vector<std::string> argv = python();
  argv.insert(argv.end(),
              {"-c", kFetch, std::string(set.url), file.string(), std::to_string(set.bytes)});
  Process process(argv);  // killed when we leave before it has ended
  process.close_input();
  const auto deadline = steady_clock::now() + kPatience;
  while (process.output_open() && steady_clock::now() < deadline) {
    process.read_lines(std::chrono::milliseconds(500));
  }
  std::string reason = concat("no complete answer within ", kPatience.count(), " s");
  if (!process.output_open()) {
    const ExitStatus status = process.wait();
    if (status.success()) return read_file(file);
    reason = last_line(process.error_tail());
    if (reason.empty()) reason = status.text();
  }
  throw UserError(concat("cannot download ", set.name, " from ", set.url, ": ", reason,
                         "\nThere is no network, or the server does not answer. If you have the "
                         "file from elsewhere: ./difflab data ",
                         set.name, " --from FILE"));
}

void get(const DataSet& set, const std::string& from) {
  const fs::path folder = find_project() / "data";
  const fs::path file = folder / set.file_name();
  const DataState before = data_state(set, file);
  if (before == DataState::kCorrect) {
    std::cout << file.string() << " is already there and correct\n";
    return;
  }
  if (from.empty()) {
    throw UserError(concat(
        file.string(), before == DataState::kWrong ? " is not " : " does not exist: there is no ",
        set.name, "; say where to get it, --from ", kDownload, " or --from FILE"));
  }
  const bool online = from == kDownload;
  const std::string bytes = online ? download(set) : read_file(from);
  check_data_set(set, bytes, online ? set.url : std::string_view(from));
  make_directories(folder);
  write_named_file(file, bytes);
  std::cout << (before == DataState::kWrong ? "replaced " : "wrote ") << file.string() << " ("
            << bytes.size() << " bytes, SHA-256 as expected)\n";
}

// Texts of the states, in the order of DataState.
constexpr const char* kDataStates[] = {"not there", "there, but not this data set",
                                       "there and correct"};

void list() {
  const fs::path folder = find_project() / "data";
  for (const DataSet& set : data_sets()) {
    const fs::path file = folder / set.file_name();
    const DataState state = data_state(set, file);
    std::cout << fmt::format("{}  {}: {}\n", set.name, file.string(),
                             kDataStates[static_cast<int>(state)])
              << fmt::format("  {} ({} bytes; {})\n", set.source, set.bytes, set.licence);
    if (state != DataState::kCorrect) {
      std::cout << fmt::format("  get it: {} data {} --from download, or --from FILE\n",
                               program_name(), set.name);
    }
  }
}

struct DataArguments {
  std::string name = kList;
  std::string from;
};

}  // namespace

void add_data_command(CLI::App& app) {
  const auto arguments = std::make_shared<DataArguments>();
  CLI::App* command = app.add_subcommand("data", "Get a training text, or list them");
  command->add_option("name", arguments->name, "a data set; without one they are listed");
  command->add_option("--from", arguments->from, "download, or a file that holds a copy");
  command->callback([arguments] {
    if (arguments->name == kList) return list();
    get(find_data_set(arguments->name), arguments->from);
  });
}

}  // namespace difflab::cli
