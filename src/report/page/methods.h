#pragma once

#include <string>
#include <vector>

namespace difflab::report {

class Frame;
class Labels;
struct Study;

/// A heading in bold and sentences behind it.
struct MethodsParagraph {
  std::string heading;  ///< e.g. "Training."
  std::string text;
};

/// How the study was made, for the methods section of a paper: models, training, tuning, seeds,
/// statistics and software, each from the configurations and records of the runs that have a
/// result. What differs between runs is named, not told; what no run says is left out. Empty
/// without such a run, and for a tuning, of which the study that it is for tells.
std::vector<MethodsParagraph> methods_of(const Study& study, const Frame& frame,
                                         const Labels& labels);

std::string methods_tex(const std::vector<MethodsParagraph>& paragraphs, const std::string& study);

constexpr const char* kMethodsFile = "methods.tex";

}  // namespace difflab::report
