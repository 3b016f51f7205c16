// What the help says of each command beside its options.
#pragma once

#include <vector>

#include "cli/pages.h"

namespace kf::gen {

/// In the order of the help, without options.
std::vector<CommandPage> command_texts();

}  // namespace kf::gen
