#pragma once

namespace difflab {

/// The constants of AdamW.
struct AdamSettings {
  double beta1, beta2;
  double eps;  ///< outside the root
};

}  // namespace difflab
