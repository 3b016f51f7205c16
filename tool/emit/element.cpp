// The table of scalars, and what is said of arguments.
#include "emit/element.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace kf::gen {
namespace {

struct ScalarNames {
    std::string_view slang;
    std::string_view cpp;
    std::string_view numpy;
    std::int64_t size;
};

/// In the order of manifest::Scalar.
constexpr std::array<ScalarNames, 12> scalars{{
    {"bool", "bool", "bool_", 1},
    {"int8_t", "std::int8_t", "int8", 1},
    {"int16_t", "std::int16_t", "int16", 2},
    {"int", "std::int32_t", "int32", 4},
    {"int64_t", "std::int64_t", "int64", 8},
    {"uint8_t", "std::uint8_t", "uint8", 1},
    {"uint16_t", "std::uint16_t", "uint16", 2},
    {"uint", "std::uint32_t", "uint32", 4},
    {"uint64_t", "std::uint64_t", "uint64", 8},
    {"half", "kf::half", "float16", 2},
    {"float", "float", "float32", 4},
    {"double", "double", "float64", 8},
}};

const ScalarNames& names_of(manifest::Scalar scalar) { return scalars[static_cast<std::size_t>(scalar)]; }

std::string dimensions(const manifest::Argument& argument) {
    std::string text = "[";
    for (std::int64_t i = 0; i < argument.rank; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const auto calls = static_cast<std::size_t>(argument.call_rank);
        text += i == 0 ? "" : ", ";
        if (at < calls && at < argument.map.size())
            text += "d" + std::to_string(argument.map[at]);
        else if (at >= calls && at - calls < argument.trailing.size())
            text += std::to_string(argument.trailing[at - calls]);
    }
    return text + "]";
}

std::string_view role_name(manifest::Role role) {
    constexpr std::array<std::string_view, 4> names{"in", "out", "inout", "returned"};
    return names[static_cast<std::size_t>(role)];
}

}  // namespace

bool has_host_type(const manifest::Element& element) {
    return element.extents.empty() ||
           (element.extents.size() == 1 && element.extents[0] >= 2 && element.extents[0] <= 4);
}

std::string slang_name(const manifest::Element& element) {
    std::string text(names_of(element.scalar).slang);
    for (std::size_t i = 0; i < element.extents.size(); ++i)
        text += (i == 0 ? "" : "x") + std::to_string(element.extents[i]);
    return text;
}

std::string cpp_type(const manifest::Element& element) {
    return element.extents.empty() ? std::string(names_of(element.scalar).cpp) : "kf::" + slang_name(element);
}

std::string numpy_name(manifest::Scalar scalar) { return std::string(names_of(scalar).numpy); }

std::int64_t scalar_size(manifest::Scalar scalar) { return names_of(scalar).size; }

std::int64_t element_size(const manifest::Element& element) {
    std::int64_t size = scalar_size(element.scalar);
    for (const std::int64_t extent : element.extents) size *= extent;
    return size;
}

bool is_floating(manifest::Scalar scalar) { return scalar >= manifest::Scalar::float16; }

bool is_integer(manifest::Scalar scalar) {
    return scalar != manifest::Scalar::boolean && !is_floating(scalar);
}

std::vector<std::string> describe_arguments(const std::vector<manifest::Argument>& arguments,
                                            const std::vector<std::string>& names) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const manifest::Argument& argument = arguments[i];
        const bool tensor = argument.kind == manifest::ArgumentKind::tensor;
        std::string line = "- " + names[i] + ": " + std::string(role_name(argument.role)) + ", ";
        line += slang_name(argument.element) + (tensor ? " tensor " + dimensions(argument) : "");
        if (tensor && argument.contiguous_only) line += ", contiguous";
        if (argument.gradient == manifest::Gradient::required)
            line += ", needs a gradient";
        else if (argument.differentiable)
            line += ", differentiable";
        if (argument.overwrite) line += " (overwritten)";
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string describe_shape(std::int64_t rank) {
    if (rank == 0) return "One call.";
    std::string text = "Call shape [";
    for (std::int64_t i = 0; i < rank; ++i) text += (i == 0 ? "d" : ", d") + std::to_string(i);
    return text + "].";
}

}  // namespace kf::gen
