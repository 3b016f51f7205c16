// What each generator is called, what it makes, and which parameters it can feed.
#pragma once

#include <cstddef>
#include <string>

#include "core/argument.h"

namespace kf::detail {

/// Its values are made from a seed and the call's flat index.
inline bool is_random(GeneratorKind generator) {
    return generator == GeneratorKind::wang_hash || generator == GeneratorKind::rand_float;
}

/// It has extents of its own, which take part in the call's shape.
constexpr bool is_spread(GeneratorKind generator) {
    return generator == GeneratorKind::grid || generator == GeneratorKind::range;
}

/// The scalar types of indices.
inline bool is_index(ScalarType scalar) {
    return scalar == ScalarType::int32 || scalar == ScalarType::uint32 || scalar == ScalarType::int64 ||
           scalar == ScalarType::uint64;
}

/// Whether the generator makes values of that scalar type.
inline bool makes(GeneratorKind generator, ScalarType scalar) {
    switch (generator) {
        case GeneratorKind::none: return false;
        case GeneratorKind::wang_hash: return scalar == ScalarType::int32 || scalar == ScalarType::uint32;
        case GeneratorKind::rand_float: return scalar == ScalarType::float32;
        default: return is_index(scalar);
    }
}

/// "grid[2]", "wang_hash": as a call spec spells it. `dimensions` counts a grid's.
inline std::string generator_text(GeneratorKind generator, std::int64_t dimensions) {
    const std::string name = manifest::generator_words.at(static_cast<std::size_t>(generator));
    return generator == GeneratorKind::grid ? name + "[" + std::to_string(dimensions) + "]" : name;
}

}  // namespace kf::detail
