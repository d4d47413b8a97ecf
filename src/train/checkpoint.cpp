#include "train/checkpoint.h"

#include <ATen/ATen.h>

#include <vector>

#include "statistics/describe.h"
#include "train/step/optimizer.h"
#include "train/tensor_file.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab {
namespace {

at::Tensor read_tensors(const Safetensors& file, const std::filesystem::path& path,
                        const StateBuffer& buffer) {
  const auto& like = buffer.flat;
  std::vector<at::Tensor> parts;
  for (const auto& place : buffer.of) {
    const TensorBytes& stored = file.at(concat(buffer.name, place.name));
    if (stored.shape != place.shape || stored.dtype != dtype_name(like.scalar_type())) {
      throw UserError(concat(path.string(), ": tensor ", stored.name,
                             " has another shape or type than the model's"));
    }
    parts.push_back(at::from_blob(const_cast<char*>(stored.bytes.data()), {place.count},
                                  like.options().device(at::kCPU)));
  }
  return parts.empty() ? at::zeros_like(like) : at::cat(parts);
}

// The file gets a second name, so that a complete checkpoint stands at every moment.
void keep_generation(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return;
  const auto previous = previous_checkpoint(path);
  std::filesystem::remove(previous, error);
  std::filesystem::create_hard_link(path, previous, error);
  if (error) std::filesystem::rename(path, previous, error);  // a filesystem without hard links
}

}  // namespace

void SpikeCounter::add(double grad_norm) {
  if (recent.size() >= kFewest) {
    const std::vector<double> norms(recent.begin(), recent.end());
    if (grad_norm > kFactor * median(norms)) ++count;
  }
  recent.push_back(grad_norm);
  if (recent.size() > kWindow) recent.pop_front();
}

std::filesystem::path previous_checkpoint(const std::filesystem::path& path) {
  auto previous = path;
  return previous.replace_extension(".previous.safetensors");
}

void save_checkpoint(const std::filesystem::path& path, const RunIdentity& run,
                     const Optimizer& optimizer, const Progress& progress) {
  const auto buffers = optimizer.buffers();
  std::vector<at::Tensor> on_cpu;  // what the tensors' bytes lie in
  std::vector<TensorBytes> tensors;
  for (const auto& buffer : buffers) {
    on_cpu.push_back(buffer.flat.cpu());
    for (const auto& place : buffer.of) {
      tensors.push_back(stored_as(concat(buffer.name, place.name), part_of(on_cpu.back(), place)));
    }
  }
  const Json state = {{"step", progress.step},
                      {"optimizer_steps", progress.optimizer_steps},
                      {"metrics_length", progress.metrics_length},
                      {"train_seconds", progress.train_seconds},
                      {"loss_sum", progress.loss_sum},
                      {"loss_count", progress.loss_count},
                      {"spikes", progress.spikes.count},
                      {"recent_grad_norms", progress.spikes.recent},
                      {"milestones", progress.milestones},
                      {"rows", progress.rows},
                      {"looks", progress.looks}};
  const auto bytes = to_sealed_safetensors(tensors, {{"format", "difflab checkpoint 2"},
                                                     {"run", run.id},
                                                     {"config", run.config},
                                                     {"progress", state.dump()}});
  keep_generation(path);
  write_file_atomically(path, bytes);
}

Progress progress_of(const Safetensors& checkpoint, const std::filesystem::path& path) {
  const Json state =
      Json::parse(checkpoint.metadata_at("progress"), nullptr, /*allow_exceptions=*/false);
  if (!state.is_object()) throw UserError(concat(path.string(), ": has no progress in it"));
  try {
    const auto step = state.at("step").get<std::int64_t>();
    return {step,
            state.value("optimizer_steps", step),
            state.at("metrics_length").get<std::uint64_t>(),
            state.at("train_seconds").get<double>(),
            state.at("loss_sum").get<double>(),
            state.at("loss_count").get<std::int64_t>(),
            {state.at("spikes").get<std::int64_t>(),
             state.at("recent_grad_norms").get<std::deque<double>>()},
            state.at("milestones"),
            state.value("rows", Json::object()),
            state.value("looks", Json::object())};
  } catch (const Json::exception& error) {
    throw UserError(concat(path.string(), ": its progress is damaged: ", error.what()));
  }
}

void take_state(const Safetensors& checkpoint, const std::filesystem::path& path,
                Optimizer& optimizer) {
  const auto progress = progress_of(checkpoint, path);
  const at::NoGradGuard no_grad;
  const auto buffers = optimizer.buffers();
  std::vector<at::Tensor> stored;  // all of them, before the first is put back
  for (const auto& buffer : buffers) stored.push_back(read_tensors(checkpoint, path, buffer));
  for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].flat.copy_(stored[i]);
  optimizer.resume_at(progress.optimizer_steps);
}

std::optional<Progress> load_checkpoint(const std::filesystem::path& path, const RunIdentity& run,
                                        Optimizer& optimizer) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const auto file = read_sealed_safetensors(path);
  if (const auto owner = file.metadata_at("run");
      owner != run.id && !run.same_training(file.metadata_at("config"))) {
    throw UserError(concat(path.string(), ": belongs to run ", owner, ", not ", run.id));
  }
  take_state(file, path, optimizer);
  return progress_of(file, path);
}

}  // namespace difflab
