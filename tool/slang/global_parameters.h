// Global parameters of modules, which the host sets, made into variables that kernels set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// A global that a host would have to fill: `uniform float4 tint;`, `ParameterBlock<Scene> scene;`,
/// `ConstantBuffer<Scene> scene;`. Others, such as those of a cbuffer, are none of these.
struct GlobalPlace {
    std::int64_t line = 0;  ///< of its name, from 1
    std::int64_t column = 0;

    bool operator==(const GlobalPlace&) const = default;
};

[[nodiscard]] std::vector<GlobalPlace> global_places(std::string_view text);

/// Returns the text with those globals as static variables, of the type that is in the block or buffer. Lines
/// and columns stay.
[[nodiscard]] std::string globals_as_statics(std::string_view text);

}  // namespace kf::gen
