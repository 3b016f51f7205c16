// The user's own C++ structs that a spec names, read and matched.
#pragma once

#include <filesystem>
#include <vector>

#include "plan/host_structs.h"
#include "spec/spec.h"

namespace kf::gen {

struct HostTypes {
    HostStructs structs;
    std::vector<std::filesystem::path> files;  ///< that were read for it, absolute
};

/// Reads the types of the spec's "structs"; gives none where it has none. Errors: those of open_libclang(),
/// CppReader::read(), options_of() and match_host_structs().
Outcome<HostTypes> read_host_types(const Spec& spec, TypeLookup& lookup);

}  // namespace kf::gen
