// Planning constants: whether the value that the spec states is one of the parameter's type.
#include "plan/kinds/constant.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/join.h"
#include "core/scalar_range.h"
#include "plan/accumulate.h"
#include "plan/kinds/value.h"
#include "plan/types.h"

namespace kf::gen::kinds {

namespace {

using Literal = ConstantScalar::Literal;

/// "[2, 3]"
std::string list_text(const std::vector<std::int64_t>& extents) { return "[" + join(extents) + "]"; }

template <class Number>
std::optional<Number> parsed(const std::string& text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

template <class Number>
std::optional<std::string> integer_of(const std::string& text) {
    if (!parsed<Number>(text)) return std::nullopt;
    return text == "-0" ? "0" : text;
}

/// The shortest decimal that reads as the nearest number of this type.
template <class Number>
std::optional<std::string> floating_of(const std::string& text, double largest) {
    const std::optional<double> number = parsed<double>(text);
    if (!number || !std::isfinite(*number) || std::abs(*number) > largest) return std::nullopt;
    constexpr std::size_t longest = 32;
    std::string result(longest, '\0');
    const auto written =
        std::to_chars(result.data(), result.data() + result.size(), static_cast<Number>(*number));
    result.resize(static_cast<std::size_t>(written.ptr - result.data()));
    return result;
}

/// Returns the value as the artifact holds it, or nothing where the type has no such value.
std::optional<std::string> value_of(const ConstantScalar& scalar, ScalarType type) {
    const std::string& text = scalar.text;
    if (type == ScalarType::boolean) {
        return scalar.literal == Literal::boolean ? std::optional(text) : std::nullopt;
    }
    const bool is_number = scalar.literal == Literal::integer || scalar.literal == Literal::number;
    if (!is_number || (!is_floating(type) && scalar.literal != Literal::integer)) return std::nullopt;
    constexpr double largest_half = 65504;
    switch (type) {
        case ScalarType::int8: return integer_of<std::int8_t>(text);
        case ScalarType::int16: return integer_of<std::int16_t>(text);
        case ScalarType::int32: return integer_of<std::int32_t>(text);
        case ScalarType::int64: return integer_of<std::int64_t>(text);
        case ScalarType::uint8: return integer_of<std::uint8_t>(text);
        case ScalarType::uint16: return integer_of<std::uint16_t>(text);
        case ScalarType::uint32: return integer_of<std::uint32_t>(text);
        case ScalarType::uint64: return integer_of<std::uint64_t>(text);
        case ScalarType::float16: return floating_of<float>(text, largest_half);
        case ScalarType::float32: return floating_of<float>(text, std::numeric_limits<float>::max());
        default: return floating_of<double>(text, std::numeric_limits<double>::max());
    }
}

std::vector<std::string> member_names(const Type& type) {
    std::vector<std::string> names;
    for (const auto& member : type.members) names.push_back(member.first);
    return names;
}

}  // namespace

std::optional<std::string> constant_text(const ConstantScalar& scalar, const Type& type) {
    if (!type.is_enum || scalar.literal != Literal::name) return value_of(scalar, type.scalar);
    const auto found = std::find_if(type.members.begin(), type.members.end(),
                                    [&](const auto& member) { return member.first == scalar.text; });
    return found == type.members.end() ? std::nullopt : std::optional(std::to_string(found->second));
}

Diagnostic constant_misfit(const ConstantScalar& scalar, const std::string& what, const Type& type) {
    const std::string shown = scalar.literal == Literal::name ? "\"" + scalar.text + "\"" : scalar.text;
    std::vector<std::string> notes;
    if (type.is_enum) {
        notes.push_back("its members are " + join(member_names(type)));
    } else if (type.scalar == ScalarType::boolean) {
        notes.emplace_back("it is true or false");
    } else {
        notes.push_back("it holds " + detail::range_text(type.scalar) +
                        (is_floating(type.scalar) ? "" : ", whole numbers alone"));
    }
    return {Severity::error, "constant-value", scalar.location,
            what + ": " + shown + " is no value of '" + type.name + "'", std::move(notes)};
}

Outcome<manifest::Argument> feed_constant(const KindSpec& kind, const KindTarget& target) {
    if (target.role != manifest::Role::in) {
        return feed_error(
            kind, "argument-type",
            target_name(target) + ": a constant goes into a call; " +
                (target.role == manifest::Role::result ? "a result" : "an out or inout parameter") +
                " comes out of it",
            {"kinds for it: value, tensor[rank]"});
    }
    const std::optional<manifest::Element> element = element_of(target.type);
    if (!element || target.type.kind == TypeKind::tensor) {
        return feed_error(
            kind, "type-not-supported",
            target_name(target) + ": a constant can't feed a parameter of type '" + target.type.name + "'",
            {"it feeds scalars, enums, vectors, matrices and sized arrays of these; a struct's "
             "fields, one by one"});
    }
    const ConstantValue& value = kind.value.value();
    if (value.extents != element->extents) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": the constant has shape " + list_text(value.extents) +
                              ", a parameter of type '" + target.type.name + "' has shape " +
                              list_text(element->extents));
    }
    manifest::Argument argument;
    argument.name = target.argument;
    argument.element = *element;
    argument.trailing = element->extents;
    const Type& inner = innermost_of(target.type);
    Constant constant;
    Diagnostics errors;
    for (const ConstantScalar& scalar : value.scalars) {
        if (const std::optional<std::string> text = constant_text(scalar, inner)) {
            constant.scalars.push_back(*text);
        } else {
            errors.push_back(constant_misfit(scalar, target_name(target), inner));
        }
    }
    if (!errors.empty()) return errors;
    argument.kind = std::move(constant);
    return argument;
}

std::string gradient_refusal(const Constant&, const AccumulateWay& way) {
    return is_for_gradients(way) ? "it is for tensors; give it a kind such as tensor[0]" : "";
}

void become_tangent(const Constant&, PlannedArgument& argument) { become_tangent(Value{}, argument); }

}  // namespace kf::gen::kinds
