#include "train/spikes.h"

#include <vector>

#include "statistics/describe.h"

namespace difflab {

void SpikeCounter::add(double grad_norm) {
  if (recent.size() >= kFewest) {
    const std::vector<double> norms(recent.begin(), recent.end());
    if (grad_norm > kFactor * median(norms)) ++count;
  }
  recent.push_back(grad_norm);
  if (recent.size() > kWindow) recent.pop_front();
}

}  // namespace difflab
