// difflab-worker: executes runs. `serve` loads LibTorch once and forks a child for each run, so a
// crash takes only its own run; `run DIR` does one in this process.
#include <ATen/ATen.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiment/device.h"
#include "kernel/tensor_memory.h"
#include "record/provenance.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/json.h"
#include "util/terminal/streams.h"
#include "worker/job.h"
#include "worker/tools.h"

namespace {

int usage() {
  std::cerr
      << "usage: difflab-worker serve [N]  jobs on standard input, one run folder a line; N cores "
         "each\n"
         "       difflab-worker run DIR    one run in this process\n"
         "       difflab-worker version    versions as JSON\n"
         "       difflab-worker verify | export | generate | show | bench ...    see difflab\n";
  return difflab::kUserError;
}

// The commands that `difflab` hands on.
int tool(const std::string& command, const std::vector<std::string>& arguments) {
  try {
    if (command == "verify") return difflab::verify_command(arguments);
    if (command == "export") return difflab::export_command(arguments);
    if (command == "generate") return difflab::generate_command(arguments);
    if (command == "show") return difflab::show_command(arguments);
    if (command == "bench") return difflab::bench_command(arguments);
    return usage();
  } catch (const std::out_of_range&) {
    return usage();  // too few arguments
  } catch (const difflab::UserError& error) {
    std::cerr << "error: " << error.what() << '\n';
    return difflab::kUserError;
  } catch (const std::exception& error) {
    std::cerr << "internal error (please report it): " << error.what() << '\n';
    return difflab::kBug;
  }
}

int run_command(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  difflab::kernel::keep_tensor_memory();
  if (command == "serve" && argc <= 3) {
    const int cores = argc == 3 ? std::atoi(argv[2]) : 1;
    if (cores < 1) return usage();
    difflab::source_state();  // asked once here, inherited by every child
    difflab::warm_up();
    return difflab::serve_jobs(cores);
  }
  if (command == "run" && argc == 3) {
    difflab::install_stop_signals();
    return difflab::run_job(argv[2]);
  }
  if (command == "version" && argc == 2) {
    std::cout << difflab::Json{{"difflab", DIFFLAB_VERSION},
                               {"libtorch", TORCH_VERSION},
                               {"cuda", torch::cuda::is_available()}}
                     .dump()
              << '\n';
    return 0;
  }
  return tool(command, {argv + std::min(argc, 2), argv + argc});
}

}  // namespace

int main(int argc, char** argv) {
  const difflab::StandardStreams streams;
  return streams.finish(run_command(argc, argv));
}
