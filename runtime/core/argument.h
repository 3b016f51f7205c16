// One argument of a call, or one field of it, as an artifact describes it.
#pragma once

#include <kf/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/kinds/kinds.h"

namespace kf::manifest {

/// How artifacts and NumPy name scalars, in the order of ScalarType.
inline constexpr std::array scalar_words{"bool",   "int8",   "int16",  "int32",   "int64",   "uint8",
                                         "uint16", "uint32", "uint64", "float16", "float32", "float64"};

/// Bytes of one scalar on the host and in tensors.
constexpr std::int64_t scalar_bytes(ScalarType scalar) { return static_cast<std::int64_t>(size_of(scalar)); }

/// A host element: a scalar, or a block of scalars (float3: {3}; float2x3: {2, 3}), row-major, packed.
struct Element {
    ScalarType scalar = ScalarType::float32;
    std::vector<std::int64_t> extents;

    bool operator==(const Element&) const = default;
};

enum class Role : std::uint8_t { in, out, inout, result };

/// Whether the backward pass differentiates an input: never; when the host argument carries a
/// gradient; or always (then a missing gradient is an error).
enum class Gradient : std::uint8_t { never, automatic, required };

/// How values that meet in one element are combined: those of an output, or of an input's gradient. By
/// default outputs meet nowhere, and gradients are added up.
enum class Accumulate : std::uint8_t {
    automatic,
    none,   ///< calls that share an element are refused
    sum,    ///< an output is what the calls give, added up
    first,  ///< of those that share an element, the first one's
    push,   ///< of gradients: one for each call, in the call's shape
};
/// How specs and artifacts name them, in the order of Accumulate.
inline constexpr std::array accumulate_words{"automatic", "none", "sum", "first", "push"};

/// One leaf of a call's arguments: an argument, or a field of one that is a struct. Results come last, named
/// "result".
struct Argument {
    std::string name;  ///< of a field its path: "ray.origin", "scene.spheres.center" in an array of spheres
    Role role = Role::in;
    Kind kind;
    Element element;   ///< what one element of the host argument is; of generators the parameter's
    std::string type;  ///< how Slang spells `element`, where that isn't as its extents look: "float[4]"
    /// The names and values of an enum's members: values that the host passes are checked against them. They
    /// may be absent.
    std::vector<std::pair<std::string, std::int64_t>> members;
    bool flags = false;     ///< members may be combined: any bit of theirs may be set
    std::int64_t rank = 0;  ///< of tensors, counted in `element`s; of generators how many indices they make
    /// How the tensor's dimensions, then `element.extents`, split: the first `call_rank` of them feed the
    /// call shape, the next `inner_rank` are those of a parameter that is a tensor, of any extent, and the
    /// rest must equal `trailing` and are one parameter's (or one of its elements') worth of scalars.
    std::int64_t call_rank = 0;
    std::int64_t inner_rank = 0;
    std::vector<std::int64_t> trailing;
    std::vector<std::int64_t> map;  ///< dimension i is dimension map[i] of the call; call_rank long
    bool differentiable = false;    ///< takes part in the backward pass (of outputs: its gradient is read)
    Gradient gradient = Gradient::never;
    std::int64_t tangent_of = -1;  ///< the argument whose tangent it is; that of an input may be absent: 0
    bool overwrite = false;        ///< what its gradient held doesn't count: calls store to it
    Accumulate accumulate = Accumulate::automatic;
    // The rest is for fields of a struct that the host passes by value or in a tensor.
    std::int64_t offset = 0;  ///< bytes from the struct's start
    std::int64_t pitch = 0;   ///< of tensors of structs: scalars from one struct to the next; 0: no struct
    std::vector<std::int64_t> spacing;  ///< scalars between neighbours along each of element.extents, on the
                                        ///< host and in tensors; empty: packed
    /// Functions take the integer for a pointer. It may be absent: nothing that runs depends on it.
    bool address = false;
    /// May share memory with other arguments that have this flag; all of them are written.
    bool aliases = false;

    bool operator==(const Argument&) const = default;
};

/// What the host passes for it.
inline HostPassing passed_as(const Argument& argument) {
    return std::visit([](const auto& kind) { return passed_as(kind); }, argument.kind);
}
inline bool passes_value(const Argument& argument) { return passed_as(argument) == HostPassing::value; }
inline bool passes_tensor(const Argument& argument) { return passed_as(argument) == HostPassing::tensor; }
inline bool passes_buffer(const Argument& argument) { return passed_as(argument) == HostPassing::buffer; }
inline bool passes_texture(const Argument& argument) { return passed_as(argument) == HostPassing::texture; }
inline bool passes_sampler(const Argument& argument) { return passed_as(argument) == HostPassing::sampler; }
/// Returns whether the argument is passed as memory whose elements are known: a tensor or a buffer.
inline bool passes_memory(const Argument& argument) {
    return passes_tensor(argument) || passes_buffer(argument);
}
/// Whether elements are: they have a type that what is given must have, and a gradient may belong to them.
inline bool passes_elements(const Argument& argument) {
    return passes_value(argument) || passes_tensor(argument);
}
inline bool has_host_value(const Argument& argument) { return passed_as(argument) != HostPassing::nothing; }

/// An argument by value that is an enum's, and the item that it is, or a field of which it is.
struct EnumValue {
    std::size_t item = 0;
    std::size_t argument = 0;

    bool operator==(const EnumValue&) const = default;
};

}  // namespace kf::manifest
