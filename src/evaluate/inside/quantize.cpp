#include "evaluate/inside/quantize.h"

#include <ATen/ATen.h>

#include <limits>
#include <utility>

#include "evaluate/base/score_batches.h"
#include "task/base/task.h"
#include "util/text.h"

namespace difflab {

at::Tensor quantize(const at::Tensor& given, std::int64_t bits, at::IntArrayRef together) {
  // Of a model in bfloat16, which has 8 bits, the levels would be rounded once more.
  const auto values = given.to(at::promote_types(given.scalar_type(), at::kFloat));
  const auto hidden = values.isinf();
  const auto seen = values.masked_fill(hidden, 0);
  const auto levels = static_cast<double>((std::int64_t{1} << (bits - 1)) - 1);
  const auto step =
      (seen.abs().amax(together, true) / levels).clamp_min(std::numeric_limits<float>::min());
  return at::where(hidden, values, (seen / step).round() * step);
}

EvaluationResult scores_by_bits(const EvaluationContext& context,
                                const std::vector<std::int64_t>& bits, std::int64_t samples,
                                const std::string& prefix,
                                const std::function<Score(std::int64_t bits)>& score_with) {
  EvaluationResult result;
  auto cells = Json::array();
  std::vector<std::int64_t> all{0};
  all.insert(all.end(), bits.begin(), bits.end());
  for (const auto width : all) {
    const auto score = score_with(width);
    Json cell{{"bits", width}};
    cell.update(cell_of(score, samples, context.task.chance_accuracy()));
    cells.push_back(std::move(cell));
    const auto metric =
        prefix + (width == 0 ? "accuracy_unquantized" : concat("accuracy_", width, "_bits"));
    result.metrics[metric] = score.accuracy();
    result.metrics[metric + "_chance"] = context.task.chance_accuracy();
  }
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
