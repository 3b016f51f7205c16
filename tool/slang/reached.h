// What functions reach beside their parameters, read from the code that Slang made of a kernel that calls
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

enum class Reach : std::uint8_t {
    parameter,        ///< a global that a host would have to fill: uniforms, buffers, textures
    static_variable,  ///< a `static` one that some function writes
    group_memory,     ///< a `groupshared` one
    barrier,
    lanes,    ///< wave, quad and derivative intrinsics
    builtin,  ///< what SV_ semantics stand for
    clock,
    loop_start,  ///< the first value of a loop, which Slang's derivative of it lacks
};

struct Reached {
    Reach what = Reach::parameter;
    std::string
        name;  ///< the variable's, without its namespace, or the intrinsic's as far as the code says it
    Location declared;         ///< of a variable; unknown for those inside of functions
    bool initialised = false;  ///< a parameter that is declared with a value
    Location used;             ///< the statement that reaches it
    std::string function;      ///< around `used`
    std::string line;          ///< the source at `used`, trimmed
    std::string member;  ///< a resource in the variable, which is a global itself in a cbuffer; until placed

    bool operator==(const Reached&) const = default;
};

/// Whether it is one of `known`. Parameters of one name may be several, where several files use them.
[[nodiscard]] inline bool is_known(const std::vector<Reached>& known, const Reached& one) {
    return std::any_of(known.begin(), known.end(), [&](const Reached& other) {
        return other.what == one.what && other.name == one.name && other.member == one.member &&
               (one.what != Reach::parameter || other.used.file == one.used.file);
    });
}

/// What probes (see emit/probe.h) call a thread group's size, which must not matter.
inline constexpr std::string_view probe_group_size = "kf_group_size";
/// How the names begin that probes give to the buffers that they pass, which are no globals of the module's.
inline constexpr std::string_view probe_buffer = "kf_bound_";

/// Reads unoptimised SPIR-V with names; places and functions are there when it has OpLine. Everything but the
/// entry point counts, which only sets static variables to their first values. Empty when `code` is no
/// SPIR-V.
[[nodiscard]] std::vector<Reached> reached_in_spirv(std::string_view code);

/// Reads CUDA source, from behind Slang's prelude on; places are there when it has #line.
[[nodiscard]] std::vector<Reached> reached_in_cuda(std::string_view text);

}  // namespace kf::gen
