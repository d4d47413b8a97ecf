#pragma once

#include <filesystem>
#include <string>

namespace difflab::report {

/// A report's page with all that it links to inside: scripts and pictures, tables and data as
/// downloads, pages in folders below it. Other links, such as those to runs, become their words. It
/// opens anywhere, without a network. @throws UserError if a file cannot be read
std::string bundled_page(const std::filesystem::path& page);

}  // namespace difflab::report
