#include "record/provenance.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "util/error.h"
#include "util/hash.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab {
namespace {

// Start of a command without git's variables that name another repository or change its output.
std::vector<std::string> without_settings_of_git() {
  std::vector<std::string> words{"env"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    const bool is_kept = name == "GIT_EXEC_PATH" || name == "GIT_CONFIG_GLOBAL" ||
                         name == "GIT_CONFIG_SYSTEM" || name == "GIT_CONFIG_NOSYSTEM";
    if (name.starts_with("GIT_") && !is_kept) words.insert(words.end(), {"-u", std::string(name)});
  }
  return words;
}

// Output of git about a folder, nothing if it fails or is missing. The programs run from the
// checkout, so it is trusted whoever owns it.
std::optional<std::string> ask_git(const std::string& root,
                                   const std::vector<std::string>& arguments) {
  auto argv = without_settings_of_git();
  argv.insert(argv.end(), {"git", "-c", "safe.directory=*", "-C", root});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  try {
    const auto printed = run_program(argv);
    return printed.status.success() ? std::optional(printed.output) : std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

// The commit of a folder that git tracks: a folder unpacked in somebody's repository is no part of
// what that one's commit names.
std::optional<std::string> commit_of(const std::string& folder) {
  const auto tracked = ask_git(folder, {"ls-files", "--", "."});
  const auto commit = ask_git(folder, {"rev-parse", "HEAD"});
  if (!tracked || tracked->empty() || !commit) return std::nullopt;
  return commit->substr(0, commit->find('\n'));
}

// Names and contents of source files that git does not know yet, such as an attention variant that
// somebody is writing: neither its status nor its diff says what is in them.
std::string new_sources(const std::string& root) {
  const auto listed =
      ask_git(root, {"ls-files", "--others", "--exclude-standard", "-z", "--", "src", "cmake"});
  std::string text;
  for (const auto& name : split(listed.value_or(""), '\0')) {
    if (name.empty()) continue;
    text += name + '\0';
    try {
      text += read_file(std::filesystem::path(root) / name) + '\0';
    } catch (const UserError&) {  // gone meanwhile, or not ours to read
    }
  }
  return text;
}

// Arguments that ask git for changes in a folder, but for results/, which is output.
std::vector<std::string> changes_here() {
  return {"status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none", "--",
          ".",      ":!results"};
}

// The same of the sources: a user's own project in them is none of them.
std::vector<std::string> changes_of_sources(const std::string& folder, const std::string& project) {
  namespace fs = std::filesystem;
  auto words = changes_here();
  if (project.empty()) return words;
  const auto inside = fs::absolute(project).lexically_normal().lexically_relative(
      fs::absolute(folder).lexically_normal());
  if (!inside.empty() && *inside.begin() != ".." && inside != ".")
    words.push_back(concat(":!", inside.string()));
  return words;
}

constexpr const char* kHanded = "DIFFLAB_SOURCE_STATE";

// Changes whenever the file is built again.
std::string identity_of(const std::filesystem::path& program) {
  std::error_code none;
  const auto size = std::filesystem::file_size(program, none);
  if (none) return "";
  const auto time = std::filesystem::last_write_time(program, none);
  return none ? "" : concat(size, ' ', time.time_since_epoch().count());
}

Json ask_source_state() {
  if (auto told = handed_source_state("/proc/self/exe")) return *std::move(told);
  Json state = {{"commit", nullptr}, {"dirty", nullptr}, {"diff_sha256", nullptr}};
  const auto root = environment("DIFFLAB_ROOT"), project = environment("DIFFLAB_PROJECT");
  const std::string folder = root.empty() ? "." : root;
  if (!project.empty()) {
    const auto commit = commit_of(project);
    const auto changes = ask_git(project, changes_here());
    state["project"] = {{"commit", commit ? Json(*commit) : Json()},
                        {"dirty", commit && changes ? Json(!changes->empty()) : Json()}};
  }
  // A wheel states beside its programs from which commit they were built.
  if (const auto built = std::filesystem::path(folder) / "BUILD.json"; exists(built)) {
    state.update(Json::parse(read_file(built)));
    return state;
  }
  const auto commit = commit_of(folder);
  const auto changes = ask_git(folder, changes_of_sources(folder, project));
  if (!commit || !changes) return state;
  state["commit"] = *commit;
  state["dirty"] = !changes->empty();
  if (!changes->empty()) {
    const auto diff = ask_git(folder, {"diff", "--no-ext-diff", "HEAD", "--", ".", ":!results"});
    state["diff_sha256"] = sha256_hex(*changes + diff.value_or("") + new_sources(folder));
  }
  return state;
}

constexpr const char* kTimeFormat = "%Y-%m-%dT%H:%M:%SZ";

constexpr const char* kEnvironment = "environment";

/// Facts that the numbers of a run depend on, beside its configuration.
constexpr std::array kOrigin = {"commit",          "dirty",       "diff_sha256", "cpu",
                                "instruction_set", "device_name", "device",      "libtorch",
                                "compiler",        kEnvironment};

// Settings of the libraries that choose other instructions or another precision.
// clang-format off
constexpr std::array kNumericVariables = {
    "ATEN_CPU_CAPABILITY", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "MKL_DYNAMIC", "OMP_DYNAMIC",
    "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA", "DNNL_DEFAULT_FPMATH_MODE",
    "ONEDNN_DEFAULT_FPMATH_MODE", "OPENBLAS_CORETYPE", "CUBLAS_WORKSPACE_CONFIG",
    "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"};
// clang-format on

std::string utc_now() { return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))); }

std::string ask_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    return colon == line.npos ? line : line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

const std::string& processor() {
  static const std::string name = ask_processor();
  return name;
}

bool is_numeric_variable(std::string_view name) { return is_among(name, kNumericVariables); }

std::string numeric_environment() {
  std::vector<std::string> set;
  for (const char* name : kNumericVariables) {
    if (const auto value = environment(name); !value.empty())
      set.push_back(concat(name, '=', value));
  }
  return join(set, " ");
}

std::vector<Json> sessions_of(const Json& provenance) {
  if (!provenance.is_object()) return {};
  std::vector<Json> sessions{provenance};
  for (const char* key : {"earlier_sessions", "training", "stage"}) {
    for (const Json& session : list_at(provenance, key)) {
      const auto inner = sessions_of(session);
      sessions.insert(sessions.end(), inner.begin(), inner.end());
    }
  }
  return sessions;
}

std::optional<std::time_t> recorded_time(const Json& provenance, const char* key) {
  const auto text = string_at(provenance, key);
  std::tm parts{};
  const auto* end = ::strptime(text.c_str(), kTimeFormat, &parts);
  return end != nullptr && *end == '\0' ? std::optional(::timegm(&parts)) : std::nullopt;
}

std::optional<double> session_seconds(const Json& provenance) {
  const auto from = recorded_time(provenance, "started");
  auto to = recorded_time(provenance, "finished");
  if (!to) to = recorded_time(provenance, "stopped");
  if (!from || !to || *to < *from) return std::nullopt;
  return std::difftime(*to, *from);
}

const Json& source_state() {
  static const Json state = ask_source_state();
  return state;
}

std::optional<Json> handed_source_state(const std::filesystem::path& program) {
  const Json told = Json::parse(environment(kHanded), nullptr, /*allow_exceptions=*/false);
  const auto identity = identity_of(program);
  if (!told.is_object() || identity.empty() || told.value("program", Json()) != identity) {
    return std::nullopt;
  }
  const Json& state = object_at(told, "state");
  return state.empty() ? std::nullopt : std::optional(state);
}

void hand_on_source_state(const std::filesystem::path& program) {
  static bool is_told = false;  // what was built after that, this process knows nothing of
  if (handed_source_state(program)) return;
  ::unsetenv(kHanded);
  if (is_told) return;
  is_told = true;
  const Json told = {{"program", identity_of(program)}, {"state", source_state()}};
  ::setenv(kHanded, told.dump().c_str(), /*overwrite=*/1);
}

Provenance::Provenance(const RunDirectory& directory, std::int64_t threads, std::int64_t seed,
                       const Json& facts)
    : directory_(directory), json_(source_state()) {
  json_.update({{"difflab", DIFFLAB_VERSION},
                {"compiler", DIFFLAB_COMPILER},
                {"build_type", DIFFLAB_BUILD_TYPE},
                {"cpu", processor()},
                {"cores", std::thread::hardware_concurrency()},
                {"host", host_name()},
                {"threads", threads},
                {"seed", seed},
                {"started", utc_now()},
                {"finished", nullptr}});
  json_.update(facts);
  if (const auto set = numeric_environment(); !set.empty()) json_[kEnvironment] = set;
  if (auto earlier = read_provenance(directory_)) {
    Json sessions = Json::array();
    for (const Json& session : list_at(*earlier, "earlier_sessions")) {
      if (session.is_object()) sessions.push_back(session);
    }
    earlier->erase("earlier_sessions");
    sessions.push_back(*earlier);
    json_["earlier_sessions"] = std::move(sessions);
  }
  write(Sync::kNothing);
}

void Provenance::note(const std::string& key, const Json& value) {
  json_[key] = value;
  write(Sync::kNothing);
}

void Provenance::keep(const std::string& key) {
  const Json& earlier = list_at(json_, "earlier_sessions");
  if (!earlier.empty() && earlier.back().contains(key)) note(key, earlier.back()[key]);
}

void Provenance::drop(const std::string& key) {
  if (json_.erase(key) > 0) write(Sync::kNothing);
}

void Provenance::note_origin(const std::string& key, const RunDirectory& other) {
  Json sessions = Json::array();
  for (const Json& session : sessions_of(read_provenance(other).value_or(Json::object()))) {
    Json facts = Json::object();
    for (const char* fact : kOrigin) {
      if (session.contains(fact)) facts[fact] = session[fact];
    }
    if (!is_among(facts, sessions)) sessions.push_back(std::move(facts));
  }
  note(key, sessions);
}

std::string Provenance::change() const {
  const Json& earlier = list_at(json_, "earlier_sessions");
  if (earlier.empty()) return "";
  std::vector<std::string> changes;
  for (const char* key : kOrigin) {
    const Json before = earlier.back().value(key, Json()), now = json_.value(key, Json());
    if (before == now) continue;
    const auto shown = [](const Json& value) {
      return value.is_string() ? value.get<std::string>().substr(0, 40) : value.dump();
    };
    changes.push_back(concat(key, " ", shown(before), " → ", shown(now)));
  }
  return join(changes);
}

Json Provenance::so_far() const {
  Json json = json_;
  json.erase("earlier_sessions");
  json["finished"] = utc_now();
  return json;
}

void Provenance::stop() { note("stopped", utc_now()); }

void Provenance::finish() {
  const auto others = others_.cores();
  json_["cores_busy_elsewhere"] = others ? Json(std::round(*others * 100) / 100) : Json(nullptr);
  json_["finished"] = utc_now();
  write(Sync::kBytes);
}

void Provenance::write(Sync sync) const {
  write_file_atomically(directory_.provenance(), json_.dump(1) + "\n", sync);
}

}  // namespace difflab
