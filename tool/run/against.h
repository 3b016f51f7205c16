// Reads the two interfaces that `kfgen check --against` compares: of artifacts or of specs.
#pragma once

#include <vector>

#include "cli/options.h"
#include "output/file_system.h"
#include "run/interface_changes.h"

namespace kf::gen {

/// What the spec or artifact of the options has that Options::against had otherwise. Nothing is compiled.
Outcome<std::vector<InterfaceChange>> changes_against(const Options& options, const FileSystem& file_system);

}  // namespace kf::gen
