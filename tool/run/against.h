// Reads the two interfaces that `kfgen check --against` compares: of artifacts or of specs.
#pragma once

#include <vector>

#include "cli/options.h"
#include "output/file_system.h"
#include "run/interface_changes.h"

namespace kf::gen {

/// Returns the changes from Options::against to the options' spec or artifact. Nothing is compiled.
Outcome<std::vector<InterfaceChange>> changes_against(const Options& options, const FileSystem& file_system);

}  // namespace kf::gen
