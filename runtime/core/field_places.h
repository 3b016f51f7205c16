// Where the fields of a struct that the host passes lie in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/argument.h"
#include "core/parameter_tree.h"

namespace kf::manifest {

/// Two of a struct's leaves, by their places among them, that lie in the same bytes, where calls write one of
/// them or its gradient: what is in these bytes then depends on which comes last. Members of a union may be
/// read. `size`: the struct's bytes, in which all of them lie.
[[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> shared_places(
    std::span<const Argument> leaves, std::int64_t size);

/// The scalars of structs whose fields are all of one scalar type and fill them: dimensions of a tensor of
/// scalars may hold such structs.
struct StructScalars {
    ScalarType scalar = ScalarType::float32;
    std::vector<std::int64_t>
        extents;  ///< of those dimensions: of an array of structs, then a struct's scalars

    bool operator==(const StructScalars&) const = default;
};

/// Returns the scalars of the structs that a parameter takes in tensors; nothing where fields are of several
/// types, or lie in the same bytes or with gaps between them. `leaves`: the structure's.
[[nodiscard]] std::optional<StructScalars> struct_scalars(const ParameterTree& structure,
                                                          std::span<const Argument> leaves);

}  // namespace kf::manifest
