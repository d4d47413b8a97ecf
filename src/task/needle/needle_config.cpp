#include "task/needle/needle.h"
#include "task/needle/vocabulary.h"

namespace difflab {

std::int64_t NeedleConfig::vocab_size() const { return Vocabulary(*this).size(); }

}  // namespace difflab
