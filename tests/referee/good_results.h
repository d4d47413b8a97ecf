#pragma once

#include <functional>
#include <map>
#include <vector>

#include "referee/referee.h"
#include "report/report.h"
#include "support/temporary_folder.h"

namespace difflab::referee {

/// A results folder with two references that no rule has anything against: the learning rates of
/// two models on a task, and a contrast of the two there, at two scales of the embeddings and two
/// weightings of the loss.
class GoodResults {
 public:
  GoodResults();

  /// What is changed before the references are written.
  struct Run {
    std::string model, embedding_std, loss_per, rate;
    int seed;
    Json metrics, censored, config, provenance;
  };
  std::function<void(Run&)> each_run = [](Run&) {};
  std::function<void(report::Study&)> contrast = [](report::Study&) {};

  /// Writes both.
  void write();

  std::filesystem::path folder(const std::string& name) const {
    return path_.path() / name / "reference";
  }
  /// Changes a JSON file of the contrast.
  void edit(const std::string& file, const std::function<void(Json&)>& change) const;
  /// Sets a cell of a CSV of the contrast, by its column and row from 0.
  void set_cell(const std::string& file, const std::string& column, std::size_t row,
                const std::string& text) const;
  /// Replaces text in a file of the contrast, once.
  void replace(const std::string& file, const std::string& from, const std::string& to) const;

  /// What the rule has against them, a line each: "contrast table.csv: …".
  std::string against(const std::string& rule) const;
  std::vector<Objection> all() const;

 private:
  void add(report::Study& study, Run run);
  report::Study tuning();
  report::Study compared();

  testing::TemporaryFolder path_;
};

}  // namespace difflab::referee
