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
    fields,  ///< a struct, or a vector, field by field; an array element by element
};

/// The structs of Slang's own that hosts have as structs of their parts.
enum class OwnStruct : std::uint8_t {
    none,      ///< it is a user's
    optional,  ///< Optional<T>: value, has_value
    tuple,     ///< Tuple<A, B>: _0, _1
    pair,      ///< DifferentialPair<T>: p, d
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
    std::vector<std::int64_t> extents;  ///< of an array of structs, or of what is given element by element
    std::vector<ParameterTree> fields;
    OwnStruct own = OwnStruct::none;

    bool operator==(const ParameterTree&) const = default;
};

/// Whether a parameter is an array that is given element by element: its fields are the elements, "[0]",
/// "[1]".
[[nodiscard]] inline bool is_array(const ParameterTree& parameter) {
    return parameter.form == Form::fields && !parameter.extents.empty();
}

/// "[2]": what an array's element is called among its fields.
[[nodiscard]] inline std::string element_name(std::int64_t index) {
    return "[" + std::to_string(index) + "]";
}

/// Appends a field to the name of what holds it: "net.scale", and "net.layers[2]" of an array.
inline void append_field(std::string& owner, std::string_view field) {
    if (!field.starts_with('[')) owner += '.';
    owner += field;
}
[[nodiscard]] inline std::string field_path(std::string_view owner, std::string_view field) {
    std::string path(owner);
    append_field(path, field);
    return path;
}

/// "net", the parameter of "net.layers[2].weights".
[[nodiscard]] inline std::string root_of(std::string_view path) {
    return std::string(path.substr(0, path.find_first_of(".[")));
}

/// Whether a path names its owner or a part of it: "net.layers[2].weights" lies in "net.layers".
[[nodiscard]] inline bool is_or_lies_in(std::string_view path, std::string_view owner) {
    return path.starts_with(owner) &&
           (path.size() == owner.size() || path[owner.size()] == '.' || path[owner.size()] == '[');
}

/// One thing that the host passes: leaves [leaf, leaf + leaves).
struct Item {
    std::int64_t leaf = 0;
    std::int64_t leaves = 1;
    Form form = Form::leaf;
    std::int64_t size = 0;  ///< bytes of one struct, or of an array of them; 0 for a leaf

    bool operator==(const Item&) const = default;
};

}  // namespace kf::manifest
