// @FILE on the command line: arguments that stand in a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "output/file_system.h"

namespace kf::gen {

/// Replaces every "@FILE" by FILE's arguments, nested at most 16 deep. Errors: "command-line" for
/// endless nesting and open quotes, the disk's own for files that can't be read.
Outcome<std::vector<std::string>> expand_response_files(const std::vector<std::string>& arguments,
                                                        const FileSystem& file_system);

}  // namespace kf::gen
