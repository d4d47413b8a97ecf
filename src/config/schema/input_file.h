#pragma once

#include <string>

#include "config/schema/fields.h"

namespace difflab {

/// A file that a run depends on. Its content, not its place, is part of what the run is: two copies
/// of one file are the same input, a changed file under the same name is another one.
///
///   file: {path: data/tinyshakespeare.txt}
struct InputFile {
  std::string path = {};    ///< "" if there is none; absolute once a sweep is planned
  std::string sha256 = {};  ///< 64 hexadecimal digits, or "" until a sweep is planned

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit(
        "path", path,
        "where the file lies, from the checkout (or --project's folder); on the command line, from "
        "the current folder; empty for none");
    visit("sha256", sha256, "SHA-256 of its bytes; empty until a sweep is planned");
  }
  void validate(config::Check& check) const;

  bool given() const { return !path.empty(); }

  /// The bytes of a file that is given.
  /// @throws UserError if it cannot be read, or if its SHA-256 is another one than `sha256`.
  std::string read() const;
};

}  // namespace difflab
