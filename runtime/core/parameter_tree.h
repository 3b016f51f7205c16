// A call's host arguments as trees over its flat list of leaves. Part of the manifest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kf::manifest {

/// What names of globals begin with, among a call's parameters: no Slang parameter has a dot.
inline constexpr std::string_view global_prefix = "globals.";

/// "globals.tint"
[[nodiscard]] inline std::string global_name(const std::string& global) {
    return std::string(global_prefix) + global;
}
[[nodiscard]] inline bool is_global(std::string_view parameter) {
    return parameter.starts_with(global_prefix);
}

/// How the host passes an argument, or a field of one.
enum class Form : std::uint8_t {
    leaf,    ///< as one Argument
    value,   ///< a struct by value
    tensor,  ///< a tensor of structs
    fields,  ///< a struct, or a vector, field by field
};

/// One host argument as a tree over Call::arguments, its leaves, which lie there in the tree's order. Fields
/// of a struct that is passed whole have its form.
struct ParameterTree {
    std::string name;
    Form form = Form::leaf;
    std::string type;         ///< Slang's name for it, unless it is a leaf
    std::int64_t leaf = 0;    ///< the first of its leaves
    std::int64_t leaves = 1;  ///< how many there are
    // The rest is for structs that are passed by value or in tensors: natural C layout, as tensors hold them.
    std::int64_t size = 0;              ///< bytes of one struct
    std::int64_t offset = 0;            ///< bytes from the start of the struct around it
    std::vector<std::int64_t> extents;  ///< of an array of structs
    std::vector<ParameterTree> fields;

    bool operator==(const ParameterTree&) const = default;
};

/// One thing that the host passes: leaves [leaf, leaf + leaves).
struct Item {
    std::int64_t leaf = 0;
    std::int64_t leaves = 1;
    Form form = Form::leaf;
    std::int64_t size = 0;  ///< bytes of one struct, or of an array of them; 0 for a leaf

    bool operator==(const Item&) const = default;
};

}  // namespace kf::manifest
