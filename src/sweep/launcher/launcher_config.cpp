#include "sweep/launcher/launcher_config.h"

#include <utility>

#include "util/error.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

template <class Kind>
concept Batch = requires(const Kind& kind) {
  kind.batch();
};

// Calls `visit` with every kind as it is by default.
template <class Visit, std::size_t... I>
void for_every_kind(const Visit& visit, std::index_sequence<I...>) {
  (visit(std::variant_alternative_t<I, LauncherConfig>{}), ...);
}
constexpr std::make_index_sequence<std::variant_size_v<LauncherConfig>> kKinds;

}  // namespace

std::unique_ptr<BatchSystem> batch_system(const LauncherConfig& config) {
  return std::visit(
      [](const auto& kind) -> std::unique_ptr<BatchSystem> {
        if constexpr (Batch<decltype(kind)>) return kind.batch();
        return nullptr;
      },
      config);
}

std::vector<std::unique_ptr<BatchSystem>> batch_systems() {
  std::vector<std::unique_ptr<BatchSystem>> systems;
  for_every_kind(
      [&](const auto& kind) {
        if (auto system = batch_system(kind)) systems.push_back(std::move(system));
      },
      kKinds);
  return systems;
}

std::string batch_kinds() {
  std::vector<std::string> names;
  for_every_kind(
      [&]<class Kind>(const Kind&) {
        if constexpr (Batch<Kind>) names.emplace_back(Kind::kKind);
      },
      kKinds);
  return join(names, " or ");
}

LaunchHere launch_here(const LauncherConfig& config, const std::filesystem::path& worker,
                       int threads_per_run, std::size_t runs) {
  return std::visit(
      [&]<class Kind>(const Kind& kind) -> LaunchHere {
        if constexpr (Batch<Kind>) {
          throw UserError(concat("launcher: ", Kind::kKind, " executes no runs here"));
        } else {
          return {kind.build(worker, threads_per_run, runs), kind.policy()};
        }
      },
      config);
}

double memory_of_run(const LauncherConfig& config) {
  return std::visit([](const auto& kind) { return kind.memory_of_run(); }, config);
}

}  // namespace difflab::sweep
