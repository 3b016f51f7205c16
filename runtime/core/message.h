// What kernels that report name by a number.
#pragma once

#include <cstdint>
#include <string>

namespace kf::manifest {

struct Message {
    std::uint32_t number = 0;
    std::string text;   ///< a line's format; what an assertion says; the name of what is indexed
    std::string place;  ///< "poly.slang:12"

    bool operator==(const Message&) const = default;
};

}  // namespace kf::manifest
