// The user's own C++ structs that stand for Slang structs: found field by field.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libclang/cpp_type.h"
#include "slang/module.h"
#include "slang/type_lookup.h"
#include "spec/spec.h"

namespace kf::gen {

/// The C++ structs by the Slang structs' names.
using HostStructs = std::map<std::string, std::shared_ptr<const HostStruct>>;

/// Matches each entry's Slang struct with `types`' at the same index, and what they hold with what these
/// hold: one C++ struct stands for a Slang struct in all of a spec. Errors: "host-struct", with both layouts.
Outcome<HostStructs> match_host_structs(const std::vector<StructSpec>& entries,
                                        const std::vector<CppType>& types, TypeLookup& lookup);

/// Returns the type with each struct's HostStruct in place.
[[nodiscard]] Type with_host_structs(Type type, const HostStructs& hosts);
/// Returns the function with the HostStructs of all that it takes and gives.
[[nodiscard]] Function with_host_structs(Function function, const HostStructs& hosts);

/// A member of a C++ struct in the type that no kernel writes, and its place; empty where there is none.
[[nodiscard]] std::string unwritten_member(const Type& type);

/// Why functions can't reach such structs by themselves, in memory that isn't laid out as Slang has it; empty
/// where they can.
[[nodiscard]] std::string host_layout_text(const Type& type);
inline constexpr const char* host_layout_cure =
    "give the function structs by value, or a tensor's by the kind 'tensor[1]', which kernels read "
    "where they are; or lay the C++ struct out as Slang does";

}  // namespace kf::gen
