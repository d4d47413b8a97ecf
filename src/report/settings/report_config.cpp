#include "report/settings/report_config.h"

namespace difflab {

template report::ReportConfig config::read(const config::Value&, const std::string&);
template config::Value config::write(report::ReportConfig);

}  // namespace difflab
