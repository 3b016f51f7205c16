// The help's text about each command, beside its options.
#pragma once

#include <vector>

#include "cli/pages.h"

namespace kf::gen {

/// Returns the commands in the order of the help, without options.
std::vector<CommandPage> command_texts();

}  // namespace kf::gen
