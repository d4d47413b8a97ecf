#include "study/study_config.h"

namespace difflab {

template study::StudyConfig config::read(const config::Value&, const std::string&,
                                         config::Problems&, config::Range);
template config::Value config::write(study::StudyConfig);
template std::vector<config::KeyTable> config::describe_keys<study::StudyConfig>(std::string);

}  // namespace difflab
