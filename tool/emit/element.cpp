// The table of scalars, and what is said of arguments.
#include "emit/element.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "core/roles.h"
#include "plan/generators.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {
namespace {

/// C++'s names, in the order of ScalarType.
constexpr std::array cpp_names{
    "bool",          "std::int8_t",   "std::int16_t",  "std::int32_t", "std::int64_t", "std::uint8_t",
    "std::uint16_t", "std::uint32_t", "std::uint64_t", "kf::half",     "float",        "double",
};

std::string dimensions(const manifest::Argument& argument) {
    std::string text = "[";
    const auto calls = static_cast<std::size_t>(argument.call_rank);
    const auto leading = calls + static_cast<std::size_t>(argument.inner_rank);
    for (std::int64_t i = 0; i < argument.rank; ++i) {
        const auto at = static_cast<std::size_t>(i);
        text += i == 0 ? "" : ", ";
        if (at < calls && at < argument.map.size())
            text += "d" + std::to_string(argument.map[at]);
        else if (at >= calls && at < leading)
            text += "any";
        else if (at >= leading && at - leading < argument.trailing.size())
            text += std::to_string(argument.trailing[at - leading]);
    }
    return text + "]";
}

std::string_view role_name(const manifest::Argument& argument) {
    switch (access_of(argument).value_or(manifest::Access::read)) {
        case manifest::Access::read: break;
        case manifest::Access::write: return "written";
        case manifest::Access::read_write: return "read and written";
        case manifest::Access::add: return "added to";
    }
    constexpr std::array<std::string_view, 4> names{"in", "out", "inout", "returned"};
    return names[static_cast<std::size_t>(argument.role)];
}

}  // namespace

std::string cpp_type(const std::string& element_name) {
    const std::size_t bracket = element_name.find('[');
    if (bracket != std::string::npos) {
        const std::size_t end = element_name.find(']', bracket);
        const std::string inner = element_name.substr(0, bracket) + element_name.substr(end + 1);
        return "std::array<" + cpp_type(inner) + ", " + element_name.substr(bracket + 1, end - bracket - 1) +
               ">";
    }
    const manifest::Element element = parse_element(element_name).value();
    std::string scalar(cpp_names.at(static_cast<std::size_t>(element.scalar)));
    if (element.extents.empty()) return scalar;
    if (element.extents == std::vector<std::int64_t>{1}) return "std::array<" + scalar + ", 1>";
    std::string extents;
    for (const std::int64_t extent : element.extents)
        extents += (extents.empty() ? "" : "x") + std::to_string(extent);
    return "kf::" + to_string(element.scalar) + extents;
}

std::string numpy_name(ScalarType scalar) {
    return scalar == ScalarType::boolean ? "bool_"
                                         : manifest::scalar_words.at(static_cast<std::size_t>(scalar));
}

std::int64_t element_size(const manifest::Element& element) {
    return manifest::scalar_bytes(element.scalar) * scalar_count(element.extents);
}

std::vector<std::string> describe_arguments(const std::vector<PlannedArgument>& arguments,
                                            const std::vector<std::string>& names) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const manifest::Argument& argument = arguments[i].host;
        if (!has_host_value(argument)) continue;
        if (argument.tangent_of >= 0) {
            // They are like what they belong to; those that go in may be left out.
            if (argument.role == manifest::Role::in && argument.differentiable)
                lines.push_back("- " + argument.name + ": 0 where it isn't given");
            continue;
        }
        if (is_generator(argument)) {
            lines.push_back("- " + names[i] + ": in, " +
                            generator_text(generator_of(argument), argument.rank));
            continue;
        }
        const bool tensor = passes_tensor(argument);
        std::string line = "- " + names[i] + ": " + std::string(role_name(argument)) + ", ";
        line += arguments[i].element_name + (tensor ? " tensor " + dimensions(argument) : "");
        if (tensor && is_contiguous_only(argument)) line += ", contiguous";
        const bool output = is_only_written(argument.role) || access_of(argument) == manifest::Access::write;
        if (argument.gradient == manifest::Gradient::required)
            line += ", needs a gradient";
        else if (output ? argument.differentiable : argument.gradient != manifest::Gradient::never)
            line += ", differentiable";
        if (argument.overwrite) line += " (overwritten)";
        if (argument.accumulate == manifest::Accumulate::sum) line += ", the sum of all calls";
        if (argument.accumulate == manifest::Accumulate::first)
            line += output ? ", the first call's" : " (of the first call)";
        if (argument.accumulate == manifest::Accumulate::push) line += " (one for each call)";
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
