#pragma once

#include <ATen/autocast_mode.h>

#include "model/layer/layer_config.h"

namespace difflab {

/// While one exists, the library's operations on `device` compute in `precision`. Guards may nest.
/// Parameters that were rounded are forgotten at the end of the outermost, before anybody changes
/// them.
class Autocast {
 public:
  Autocast(Precision precision, const at::Device& device) : device_(device.type()) {
    if (precision == Precision::kFloat32) return;
    on_ = true;
    before_ = at::autocast::is_autocast_enabled(device_);
    type_before_ = at::autocast::get_autocast_dtype(device_);
    at::autocast::set_autocast_enabled(device_, true);
    at::autocast::set_autocast_dtype(device_, at::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(device_, type_before_);
    at::autocast::set_autocast_enabled(device_, before_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool on_ = false, before_ = false;
  at::ScalarType type_before_ = at::kFloat;
};

}  // namespace difflab
