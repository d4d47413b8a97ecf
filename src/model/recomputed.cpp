#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <mutex>
#include <optional>
#include <utility>

#include "model/block.h"
#include "model/layer/autocast.h"

namespace difflab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor state_of(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_state(at::Generator generator, const at::Tensor& state) {
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

// While one exists, the library draws what it drew behind `state`.
class DrawnAgain {
 public:
  DrawnAgain(at::Generator generator, const at::Tensor& state)
      : generator_(std::move(generator)), before_(state_of(generator_)) {
    set_state(generator_, state);
  }
  ~DrawnAgain() { set_state(generator_, before_); }
  DrawnAgain(const DrawnAgain&) = delete;
  DrawnAgain& operator=(const DrawnAgain&) = delete;

 private:
  at::Generator generator_;
  at::Tensor before_;
};

at::Tensor leaf(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach().requires_grad_() : at::Tensor();
}

at::Tensor gradient_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.grad() : at::Tensor();
}

/// State that the backward pass needs beside the stream.
struct Call final : torch::CustomClassHolder {
  Call(Block& of, const Rotary& turned, Precision in, const at::Device& device)
      : block(of),
        rotary(turned),
        precision(in),
        generator(at::globalContext().defaultGenerator(device)),
        drawn(state_of(generator)) {}

  Block& block;
  Rotary rotary;
  Precision precision;
  at::Generator generator;
  at::Tensor drawn;
};

struct Recomputation : torch::autograd::Function<Recomputation> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const std::optional<at::Tensor>& delta,
                               const c10::intrusive_ptr<Call>& call) {
    const Residual in{x, delta.value_or(at::Tensor())};
    // One tensor is kept instead of two: a sum with −0 is the number itself, bit for bit.
    context->save_for_backward({in.sum()});
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    if (delta) context->saved_data["delta"] = delta->scalar_type();
    const auto out = call->block.forward(in, call->rotary);
    return {out.x, out.delta};
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto capsule = context->saved_data["call"].toCapsule();
    const auto& call = static_cast<const Call&>(*capsule);
    const auto sum = context->get_saved_variables().front();
    const auto type = context->saved_data.find("delta");
    const auto nothing = type == context->saved_data.end()
                             ? at::Tensor()
                             : at::full_like(sum, -0.0, type->second.toScalarType());
    const at::AutoGradMode kept(true);
    const Residual in{leaf(sum), leaf(nothing)};
    Residual out;
    {
      const Autocast autocast(call.precision, in.x.device());
      const DrawnAgain random(call.generator, call.drawn);
      out = call.block.forward(in, call.rotary);
    }
    variable_list outputs, gradients;
    const auto ask = [&](const at::Tensor& output, const at::Tensor& gradient) {
      if (!gradient.defined()) return;
      outputs.push_back(output);
      gradients.push_back(gradient);
    };
    ask(out.x, d_outputs[0]);
    ask(out.delta, d_outputs[1]);
    torch::autograd::backward(outputs, gradients);
    return {gradient_of(in.x), gradient_of(in.delta), at::Tensor()};
  }
};

}  // namespace

Residual recomputed(Block& block, const Residual& stream, const Rotary& rotary,
                    Precision precision) {
  const auto delta = stream.delta.defined() ? std::optional(stream.delta) : std::nullopt;
  const auto out = Recomputation::apply(
      stream.x, delta, c10::make_intrusive<Call>(block, rotary, precision, stream.x.device()));
  return {out[0], out[1]};
}

}  // namespace difflab
