#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace difflab {

/// One parameter of a model within flat buffers, and how it is updated.
struct ParameterPlace {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0, count = 0;
  double lr_scale = 1;
  double weight_decay = 0;
};

/// All parameters of a model and their gradients, each in one buffer [P] in the order of `places`.
struct FlatParameters {
  at::Tensor values, gradients;
  std::vector<ParameterPlace> places;
};

/// The learning rate of a step: a number, or a scalar on the parameters' device, which a recorded
/// step reads anew each time.
using LearningRate = std::variant<double, at::Tensor>;

/// State that an optimiser keeps between two steps: a number for each number of the parameters
/// `of`, which lie in `flat` one after another.
struct StateBuffer {
  std::string name;  ///< in checkpoints, before the parameter's (is_optimizer_state)
  at::Tensor flat;
  std::vector<ParameterPlace> of;
};

/// How an optimiser turns gradients into an update of the parameters.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// One update with the gradients as they are.
  virtual void step(const LearningRate& lr) = 0;
  virtual std::vector<StateBuffer> state() const = 0;
  /// Goes on as after so many steps; the state is put back apart.
  virtual void resume_at(std::int64_t) {}
};

/// A buffer of zeros for the state of `of`, of the type and on the device of `like`.
StateBuffer zero_state(std::string name, std::vector<ParameterPlace> of, const at::Tensor& like);

/// The part of a flat buffer that holds a parameter, with its shape.
at::Tensor part_of(const at::Tensor& flat, const ParameterPlace& place);

}  // namespace difflab
