#include "study/run_index.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "config/value/value.h"
#include "config/value/yaml.h"
#include "sweep/plan/run.h"
#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = R"(
CREATE TABLE runs(id TEXT PRIMARY KEY, state TEXT, step INTEGER, steps INTEGER, message TEXT,
                  directory TEXT, commit_id TEXT, host TEXT, started TEXT, finished TEXT);
CREATE TABLE config(run TEXT, key TEXT, value, PRIMARY KEY(run, key));
CREATE TABLE metrics(run TEXT, name TEXT, value REAL, PRIMARY KEY(run, name));
)";
constexpr const char* kTables =
    "runs(id, state, step, steps, message, directory, commit_id, host, started, finished), "
    "config(run, key, value), metrics(run, name, value)";
constexpr std::string_view kConfig = "config.", kMetrics = "metrics.";

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

[[noreturn]] void refuse(const fs::path& file, const Database& database) {
  throw UserError(concat(file.string(), ": ", sqlite3_errmsg(database.get())));
}

Database open_database(const fs::path& file, int flags) {
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(file.c_str(), &raw, flags, nullptr);
  Database database(raw);
  if (status != SQLITE_OK) refuse(file, database);
  return database;
}

void flatten(const Json& value, const std::string& name, RunRow& row) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) flatten(child, concat(name, ".", key), row);
  } else {
    row[name] = value;
  }
}

std::string indexed_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Changes whenever a file of a run does that the index is made of.
std::string signature_of(const fs::path& runs) {
  std::vector<std::string> lines;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(runs, none)) {
    const RunDirectory run{entry.path()};
    std::string line = entry.path().filename().string();
    for (const auto& file : {run.config(), run.status(), run.result(), run.provenance()}) {
      std::error_code missing;
      const auto time = fs::last_write_time(file, missing);
      line += missing
                  ? " -"
                  : concat(" ", time.time_since_epoch().count(), "/", fs::file_size(file, missing));
    }
    // A process that was killed changes no file, but holds its run no longer.
    if (!fs::exists(run.result(), none)) line += concat(" ", name_of(state_of(run)));
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return sha256_hex(join(lines, "\n"));
}

void bind(sqlite3_stmt* statement, int place, const Json& value) {
  if (value.is_null()) {
    sqlite3_bind_null(statement, place);
  } else if (value.is_boolean()) {
    sqlite3_bind_int(statement, place, value.get<bool>() ? 1 : 0);
  } else if (value.is_number_integer()) {
    sqlite3_bind_int64(statement, place, value.get<std::int64_t>());
  } else if (value.is_number()) {
    sqlite3_bind_double(statement, place, value.get<double>());
  } else {
    const auto text = indexed_text(value);
    sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
}

class Writer {
 public:
  explicit Writer(const fs::path& file)
      : file_(file), database_(open_database(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) {
    // It becomes the index only by its rename; until then nobody needs a journal.
    execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;");
    execute(kSchema);
    run_ = prepare("INSERT INTO runs VALUES(?,?,?,?,?,?,?,?,?,?)");
    config_ = prepare("INSERT INTO config VALUES(?,?,?)");
    metric_ = prepare("INSERT INTO metrics VALUES(?,?,?)");
  }

  void add(const RunRow& row) {
    const auto get = [&](const char* key) { return row.count(key) ? row.at(key) : Json(); };
    insert(run_, {get("id"), get("state"), get("step"), get("steps"), get("message"),
                  get("directory"), get("commit"), get("host"), get("started"), get("finished")});
    for (const auto& [name, value] : row) {
      if (name.starts_with(kConfig)) {
        insert(config_, {get("id"), name.substr(kConfig.size()), value});
      } else if (name.starts_with(kMetrics)) {
        insert(metric_, {get("id"), name.substr(kMetrics.size()), value});
      }
    }
  }

  void finish() { execute("COMMIT;"); }

 private:
  void execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      refuse(file_, database_);
    }
  }
  Statement prepare(const char* sql) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql, -1, &raw, nullptr) != SQLITE_OK) {
      refuse(file_, database_);
    }
    return Statement(raw);
  }
  void insert(const Statement& statement, const std::vector<Json>& values) {
    sqlite3_reset(statement.get());
    for (std::size_t i = 0; i < values.size(); ++i) {
      bind(statement.get(), static_cast<int>(i) + 1, values[i]);
    }
    if (sqlite3_step(statement.get()) != SQLITE_DONE) refuse(file_, database_);
  }

  fs::path file_;
  Database database_;
  Statement run_, config_, metric_;  // gone before the database
};

// SQL of a user may read, and nothing else: not attach another file, not change a setting.
int only_reading(void*, int action, const char*, const char*, const char*, const char*) {
  const bool harmless = action == SQLITE_SELECT || action == SQLITE_READ ||
                        action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  return harmless ? SQLITE_OK : SQLITE_DENY;
}

Json cell(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
      return nullptr;
    default:
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                         static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
  }
}

}  // namespace

RunRow read_run(const RunDirectory& run) {
  RunRow row{{"id", run.path.filename().string()}, {"directory", run.path.string()}};
  for (const char* key : {"step", "steps", "message", "commit", "host", "started", "finished"}) {
    row[key] = nullptr;
  }
  try {
    row["state"] = name_of(state_of(run));
    if (const auto result = read_result(run)) {
      flatten(result->value("metrics", Json::object()), "metrics", row);
    }
  } catch (const UserError& error) {
    row["state"] = "damaged";
    row["message"] = error.what();
  }
  const auto take = [&](const std::optional<Json>& json, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (json && json->contains(key)) row[key] = json->at(key);
    }
  };
  take(read_status(run), {"message"});
  if (const auto position = position_of(run); position.all() > 0) {
    row["step"] = position.done();
    row["steps"] = position.all();
  }
  take(read_provenance(run), {"commit", "host", "started", "finished", "trained_in"});
  try {
    flatten(config::to_json(config::load_yaml(run.config())), "config", row);
  } catch (const UserError&) {  // a run folder without its configuration still has a state
  }
  return row;
}

std::vector<RunRow> read_runs(const fs::path& results) {
  std::vector<fs::path> folders;
  std::error_code none;  // no folder: no runs
  for (const auto& entry : fs::directory_iterator(results / "runs", none)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<RunRow> rows;
  for (const auto& folder : folders) rows.push_back(read_run({folder}));
  return rows;
}

fs::path update_index(const fs::path& results) {
  const auto index = results / "index.sqlite", seal = results / "index.sqlite.sha256";
  const auto signature = signature_of(results / "runs");
  if (fs::exists(index) && fs::exists(seal) &&
      read_file(seal) == concat(signature, " ", sha256_hex(read_file(index)), "\n")) {
    return index;
  }
  const auto temporary = results / concat(".index.", ::getpid(), ".tmp");
  fs::remove(temporary);
  const struct Removal {  // also when a run cannot be read
    const fs::path& path;
    ~Removal() {
      std::error_code ignored;
      fs::remove(path, ignored);
    }
  } removal{temporary};
  {
    Writer writer(temporary);
    for (const auto& row : read_runs(results)) writer.add(row);
    writer.finish();
  }
  const auto bytes = read_file(temporary);
  write_file_atomically(index, bytes);
  write_file_atomically(seal, concat(signature, " ", sha256_hex(bytes), "\n"));
  return index;
}

QueryAnswer query_index(const fs::path& index, const std::string& sql) {
  const auto database = open_database(index, SQLITE_OPEN_READONLY);
  sqlite3_set_authorizer(database.get(), only_reading, nullptr);
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int status =
      sqlite3_prepare_v2(database.get(), sql.data(), static_cast<int>(sql.size()), &raw, &rest);
  const Statement statement(raw);
  const auto problem = [&](std::string_view what) {
    throw UserError(concat(what, "\n  in: ", sql, "\n  the tables are ", kTables));
  };
  if (status != SQLITE_OK) problem(sqlite3_errmsg(database.get()));
  const std::string_view after(rest, static_cast<std::size_t>(sql.data() + sql.size() - rest));
  if (raw == nullptr || after.find_first_not_of(" \t\n;") != after.npos) {
    problem("expected one SELECT");
  }
  QueryAnswer answer;
  const int columns = sqlite3_column_count(raw);
  for (int i = 0; i < columns; ++i) answer.columns.emplace_back(sqlite3_column_name(raw, i));
  int step = sqlite3_step(raw);
  for (; step == SQLITE_ROW; step = sqlite3_step(raw)) {
    std::vector<Json> row;
    for (int i = 0; i < columns; ++i) row.push_back(cell(raw, i));
    answer.rows.push_back(std::move(row));
  }
  if (step != SQLITE_DONE) problem(sqlite3_errmsg(database.get()));
  return answer;
}

}  // namespace difflab::cli
