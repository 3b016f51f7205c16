// Slang's and C++'s layout of one struct, side by side.
#pragma once

#include <string>
#include <vector>

#include "libclang/cpp_type.h"
#include "slang/type.h"

namespace kf::gen {

/// A field of a C++ struct, with those of anonymous structs and unions in it as its own.
struct HostMember {
    std::string name;  ///< "origin"; of a member's member "camera.origin"
    const CppType* type = nullptr;
    std::int64_t offset = 0;  ///< bytes from the start of the struct
    Location location;
    bool is_public = true;
    bool is_bit_field = false;
};

[[nodiscard]] std::vector<HostMember> members_of(const CppType& record);

/// The lines of a table. `pairs`: for each of Slang's fields the number of the C++ member that stands for it;
/// -1: none does.
[[nodiscard]] std::vector<std::string> layout_table(const Type& slang, const CppType& record,
                                                    const std::vector<HostMember>& members,
                                                    const std::vector<int>& pairs);

}  // namespace kf::gen
