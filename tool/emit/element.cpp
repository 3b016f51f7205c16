// The table of scalars, and what is said of arguments.
#include "emit/element.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "core/roles.h"
#include "emit/kinds/questions.h"
#include "plan/kinds/questions.h"
#include "plan/types.h"

namespace kf::gen {
namespace {

/// C++'s names, in the order of ScalarType.
constexpr std::array cpp_names{
    "bool",          "std::int8_t",   "std::int16_t",  "std::int32_t", "std::int64_t", "std::uint8_t",
    "std::uint16_t", "std::uint32_t", "std::uint64_t", "kf::half",     "float",        "double",
};

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

std::string role_text(manifest::Role role) {
    constexpr std::array<const char*, 4> names{"in", "out", "inout", "returned"};
    return names.at(static_cast<std::size_t>(role));
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
        std::string line = "- " + names[i] + ": " + described(arguments[i]);
        const bool output = !reads_elements(argument);
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

std::string describe_shape(const PlannedCall& call) {
    if (call.dispatch != manifest::Dispatch::elements) {
        const auto& [x, y, z] = call.group_size;
        return std::string(call.dispatch == manifest::Dispatch::groups ? "A kernel" : "A call a thread") +
               ", in groups of " + std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z) +
               " threads: threads() or groups() says how many.";
    }
    const std::int64_t rank = call.rank;
    if (rank == 0) return "One call.";
    std::string text = "Call shape [";
    for (std::int64_t i = 0; i < rank; ++i) text += (i == 0 ? "d" : ", d") + std::to_string(i);
    return text + "].";
}

}  // namespace kf::gen
