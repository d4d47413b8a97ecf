#include "study/study_config.h"

namespace difflab {

template cli::StudyConfig config::read(const config::Value&, const std::string&, config::Problems&,
                                       config::Range);
template config::Value config::write(cli::StudyConfig);
template std::vector<config::KeyTable> config::describe_keys<cli::StudyConfig>(std::string);

}  // namespace difflab
