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
  config::for_each_kind<LauncherConfig>([&](const auto& kind) {
    if (auto system = batch_system(kind)) systems.push_back(std::move(system));
  });
  return systems;
}

std::string batch_kinds() {
  std::vector<std::string> names;
  config::for_each_kind<LauncherConfig>([&]<class Kind>(const Kind&) {
    if constexpr (Batch<Kind>) names.emplace_back(Kind::kKind);
  });
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
