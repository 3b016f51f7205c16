// The table of scalars, and what is said of arguments.
#include "emit/element.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/roles.h"
#include "emit/kinds/questions.h"
#include "emit/text.h"
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

std::string cpp_type(const std::string& element_name, const std::string& other) {
    const std::size_t bracket = element_name.find('[');
    if (bracket != std::string::npos) {
        const std::size_t end = element_name.find(']', bracket);
        const std::string inner = element_name.substr(0, bracket) + element_name.substr(end + 1);
        return "std::array<" + cpp_type(inner, other) + ", " +
               element_name.substr(bracket + 1, end - bracket - 1) + ">";
    }
    const manifest::Element element = parse_element(element_name).value();
    std::string scalar(cpp_names.at(static_cast<std::size_t>(element.scalar)));
    if (element.extents.empty()) return other.empty() ? scalar : other;
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

ArgumentDocs describe_arguments(const std::vector<PlannedArgument>& arguments,
                                const std::vector<std::string>& names) {
    ArgumentDocs texts;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const manifest::Argument& argument = arguments[i].host;
        if (!has_host_value(argument) || argument.tangent_of >= 0) continue;
        const std::string text = described(arguments[i]);
        const std::size_t comma = std::min(text.find(", "), text.size());
        std::string notes;
        const bool output = !reads_elements(argument);
        if (argument.gradient == manifest::Gradient::required)
            notes += ", needs a gradient";
        else if (output ? argument.differentiable : argument.gradient != manifest::Gradient::never)
            notes += ", differentiable";
        if (argument.overwrite) notes += " (overwritten)";
        if (argument.accumulate == manifest::Accumulate::sum) notes += ", the sum of all calls";
        if (argument.accumulate == manifest::Accumulate::first)
            notes += output ? ", the first call's" : " (of the first call)";
        if (argument.accumulate == manifest::Accumulate::push) notes += " (one for each call)";
        texts.push_back({names[i], text.substr(0, comma), text.substr(comma), std::move(notes)});
    }
    return texts;
}

namespace {

/// The part of a field's name that is its argument's.
std::string_view root(const ArgumentDoc& text) {
    return std::string_view(text.name).substr(0, text.name.find_first_of(".["));
}

/// Adds what is said of an argument to what other calls say of it, in its argument's place.
void add_said(const ArgumentDoc& text, std::vector<ArgumentDocs>& all) {
    auto place = all.end();
    for (auto known = all.begin(); known != all.end(); ++known) {
        if (known->front().name == text.name) {
            if (std::ranges::find(*known, text) == known->end()) known->push_back(text);
            return;
        }
        if (root(known->front()) == root(text)) place = known + 1;
    }
    all.insert(place, {text});
}

/// "in, float or float tensor [d0], differentiable": what differs alone is said twice.
std::string all_said(const ArgumentDocs& texts) {
    const ArgumentDoc& first = texts.front();
    const bool alike = std::ranges::all_of(texts, [&](const ArgumentDoc& other) {
        return other.role == first.role && other.notes == first.notes && !other.kind.empty();
    });
    std::string line = first.role + first.kind + (alike ? "" : first.notes);
    for (std::size_t i = 1; i < texts.size(); ++i)
        line +=
            alike ? " or " + texts[i].kind.substr(2) : "; " + texts[i].role + texts[i].kind + texts[i].notes;
    return line + (alike ? first.notes : "");
}

/// Adds an item of a list, in lines that fit into an indented comment.
void add_wrapped(std::string item, std::vector<std::string>& lines) {
    constexpr std::size_t width = columns - 8;
    while (item.size() > width) {
        std::size_t space = item.rfind(" or ", width);  // keeps "[d0, d1]" on a line
        if (space == std::string::npos) space = item.rfind(' ', width);
        if (space == std::string::npos || space < 4) break;
        lines.push_back(item.substr(0, space));
        item.replace(0, space + 1, "  ");
    }
    lines.push_back(std::move(item));
}

}  // namespace

std::vector<std::string> describe_function(const std::vector<ArgumentDocs>& calls) {
    std::vector<ArgumentDocs> all;
    for (const ArgumentDocs& call : calls)
        for (const ArgumentDoc& text : call) add_said(text, all);
    std::vector<std::string> lines;
    for (const ArgumentDocs& texts : all)
        add_wrapped("- " + texts.front().name + ": " + all_said(texts), lines);
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
