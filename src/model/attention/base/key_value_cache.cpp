#include "model/attention/base/key_value_cache.h"

#include <ATen/ATen.h>

namespace difflab {

std::pair<at::Tensor, at::Tensor> KeyValueCache::append(const at::Tensor& k, const at::Tensor& v) {
  keys_ = keys_.defined() ? at::cat({keys_, k}, /*dim=*/1) : k;
  values_ = values_.defined() ? at::cat({values_, v}, /*dim=*/1) : v;
  return {keys_, values_};
}

std::pair<at::Tensor, at::Tensor> with_earlier(KeyValueCache* cache, const at::Tensor& k,
                                               const at::Tensor& v) {
  return cache == nullptr ? std::pair(k, v) : cache->append(k, v);
}

}  // namespace difflab
