#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "evaluate/speed/timing.h"
#include "experiment/device.h"
#include "kernel/attention_head.h"
#include "train/step/step.h"
#include "util/error.h"
#include "util/json.h"
#include "worker/bench_cases.h"
#include "worker/tools.h"

namespace difflab {
namespace {

constexpr int kBenchRounds = 9;
constexpr int kWarmUpsOnCuda = kStepsBeforeRecording + 2;

struct Row {
  const BenchCase* bench;
  Spread seconds;
  std::optional<double> share;  ///< of the peak, both medians; on the CPU alone
};

// Seconds of one call, until the device is done.
double seconds_on(const c10::Device& device, const std::function<void()>& run) {
  return seconds_of([&] {
    run();
    if (device.is_cuda()) torch::cuda::synchronize();
  });
}

// All cases of a group in turn, kBenchRounds times, so that what else the machine does meets all
// alike.
std::vector<Row> measure(const std::vector<BenchCase>& cases, const c10::Device& device) {
  // A product that keeps a core busy is too small for a GPU to tell what that can do.
  std::optional<SgemmPeak> peak;
  if (device.is_cpu()) peak.emplace(at::empty({0}, device));
  std::vector<Row> rows;
  for (auto begin = cases.begin(); begin != cases.end();) {
    auto end = std::find_if(begin, cases.end(),
                            [&](const auto& other) { return other.group != begin->group; });
    std::map<const BenchCase*, std::vector<double>> samples;
    std::vector<double> peaks;
    for (int again = 0; again < (device.is_cuda() ? kWarmUpsOnCuda : 1); ++again) {
      for (auto bench = begin; bench != end; ++bench) seconds_on(device, bench->run);
    }
    if (peak) peak->measure();
    for (int round = 0; round < kBenchRounds; ++round) {
      for (auto bench = begin; bench != end; ++bench) {
        samples[&*bench].push_back(seconds_on(device, bench->run));
      }
      if (peak) peaks.push_back(peak->measure());
    }
    for (auto bench = begin; bench != end; ++bench) {
      Row row{&*bench, spread_of(samples[&*bench]), std::nullopt};
      if (peak) row.share = bench->operations / row.seconds.median / spread_of(peaks).median;
      rows.push_back(row);
    }
    begin = end;
  }
  return rows;
}

void print(const std::vector<Row>& rows, const std::string& where) {
  std::string group;
  for (const auto& row : rows) {
    const auto& [bench, seconds, share] = row;
    if (bench->group != group) std::cout << (group.empty() ? "" : "\n") << bench->group << '\n';
    group = bench->group;
    std::cout << fmt::format("  {:<37} {:9.2f} ms  ({:.2f} to {:.2f})", bench->name,
                             1e3 * seconds.median, 1e3 * seconds.low, 1e3 * seconds.high);
    if (bench->tokens > 0) {
      std::cout << fmt::format("  {:8.0f} tokens/s", bench->tokens / seconds.median);
    }
    if (bench->operations > 0 && bench->tokens > 0) {
      std::cout << fmt::format("  {:6.1f} GFLOP/s", 1e-9 * bench->operations / seconds.median);
      if (share) std::cout << fmt::format("  {:3.0f} % of sgemm", 100 * *share);
    }
    std::cout << '\n';
  }
  std::cout << fmt::format("\nMedian and quartiles of {} rounds, cases in turn; {} thread{}; {}\n",
                           kBenchRounds, at::get_num_threads(),
                           at::get_num_threads() > 1 ? "s" : "", where);
}

Json to_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const auto& [bench, seconds, share] : rows) {
    Json one = {{"group", bench->group},
                {"name", bench->name},
                {"median_seconds", seconds.median},
                {"quartile_seconds", {seconds.low, seconds.high}}};
    if (bench->tokens > 0) {
      one["tokens_per_second"] = bench->tokens / seconds.median;
    }
    if (bench->tokens > 0 && bench->operations > 0) {
      one["flops_per_second"] = bench->operations / seconds.median;
      if (share) one["share_of_sgemm"] = *share;
    }
    list.push_back(one);
  }
  return list;
}

using Cases = std::vector<BenchCase> (*)(c10::Device);

Cases cases_of(const std::string& what) {
  const std::map<std::string, Cases> known{{"attention", attention_cases},
                                           {"train", train_cases},
                                           {"optimizer", optimizer_cases},
                                           {"decode", decode_cases}};
  const auto found = known.find(what);
  if (found == known.end()) {
    throw UserError(
        concat("bench ", what, " is unknown; expected attention, train, optimizer or decode"));
  }
  return found->second;
}

// One call of a case per line "GROUP | NAME", answered with its seconds and operations, "sgemm",
// answered with operations per second, or "list", answered with all cases: bench/compare times us
// and a peer in turn, bench/versions two builds of ours. Training steps may have any size.
int serve(const std::string& what, const c10::Device& device) {
  auto cases = cases_of(what)(device);
  SgemmPeak peak(at::empty({0}, device));
  const auto called = [](const std::string& line) {
    return [&line](const BenchCase& one) { return line == concat(one.group, " | ", one.name); };
  };
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "sgemm") {
      std::cout << peak.measure() << std::endl;
      continue;
    }
    if (line == "list") {
      for (const auto& bench : cases) std::cout << bench.group << " | " << bench.name << std::endl;
      continue;
    }
    auto asked = std::find_if(cases.begin(), cases.end(), called(line));
    if (const auto bar = line.find(" | "); asked == cases.end() && bar != line.npos) {
      auto other = train_case(line.substr(0, bar), line.substr(bar + 3), device);
      if (other) asked = cases.insert(cases.end(), std::move(*other));
    }
    if (asked == cases.end()) throw UserError(concat("no such case: ", line));
    std::cout << seconds_on(device, asked->run) << ' ' << asked->operations << std::endl;
  }
  return 0;
}

}  // namespace

LanguageModel initialised(const ModelConfig& config, std::int64_t vocab_size, Kernels kernels,
                          const c10::Device& device) {
  LanguageModel model(config, vocab_size, kernels);
  initialise(model, config, 0);
  model.to(device);
  return model;
}

int bench_command(const std::vector<std::string>& arguments) {
  const auto& what = arguments.at(0);
  at::set_num_threads(std::stoi(arguments.at(1)));
  const bool serves = what == "serve";  // bench serve THREADS [WHAT [DEVICE [avx2]]]
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return arguments.size() > i ? arguments[i] : std::string(otherwise);
  };
  const auto cases_on = serves ? nullptr : cases_of(what);
  const auto device =
      open_device(argument(serves ? 3 : 2, "cpu") == "cuda" ? Device::kCuda : Device::kCpu);
  if (serves && argument(4, "") == "avx2") kernel::use_at_most_avx2();
  if (serves) return serve(argument(2, "train"), device);
  const auto cases = cases_on(device);
  const auto rows = measure(cases, device);
  if (arguments.size() > 3) {
    std::cout << to_json(rows).dump(1) << '\n';
  } else {
    print(rows, device.is_cpu() ? kernel::instruction_set() : name_of_device(device));
  }
  return 0;
}

}  // namespace difflab
