// Makes structs of nothing, and writes numbers.
#include "emit/field_defaults.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include <kf/half.h>

#include "emit/items.h"
#include "emit/kernel_text.h"
#include "emit/render.h"
#include "emit/values.h"
#include "emit_templates.h"
#include "plan/structs.h"
#include "plan/type_text.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

/// A limit on a field's numbers: more would make wrappers that nobody reads.
constexpr std::size_t most_numbers = 256;

/// Calls visit(way, type) for what a value of the type consists of, with its way from the value: ".x", "[0]".
void each_part(const Type& type, const std::function<void(const std::string&, const Type&)>& visit) {
    if (type.kind == TypeKind::structure) {
        for (const Field& field : type.fields) visit("." + field.name, field.type);
        return;
    }
    Type part;
    std::int64_t extent = 0;
    if (type.kind == TypeKind::array) {
        part = type.element.front();
        extent = type.extent;
    } else {
        part.kind = type.kind == TypeKind::matrix ? TypeKind::vector : TypeKind::scalar;
        part.scalar = type.scalar;
        part.columns = type.columns;
        extent = type.kind == TypeKind::matrix ? type.rows : type.columns;
    }
    for (std::int64_t i = 0; i < extent; ++i) visit(manifest::element_name(i), part);
}

std::string text_of(auto number) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

/// Returns the number with a point or an exponent, so that it stays floating.
std::string decimal(auto number) {
    const std::string text = text_of(number);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::int64_t signed_of(ScalarType scalar, std::uint64_t bits) {
    switch (scalar) {
        case ScalarType::int8: return static_cast<std::int8_t>(bits);
        case ScalarType::int16: return static_cast<std::int16_t>(bits);
        case ScalarType::int32: return static_cast<std::int32_t>(bits);
        default: return static_cast<std::int64_t>(bits);
    }
}

std::uint64_t unsigned_of(ScalarType scalar, std::uint64_t bits) {
    switch (scalar) {
        case ScalarType::uint8: return static_cast<std::uint8_t>(bits);
        case ScalarType::uint16: return static_cast<std::uint16_t>(bits);
        case ScalarType::uint32: return static_cast<std::uint32_t>(bits);
        default: return bits;
    }
}

float float_of(ScalarType scalar, std::uint64_t bits) {
    return scalar == ScalarType::float16 ? float(half::from_bits(static_cast<std::uint16_t>(bits)))
                                         : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

void add_statements(const Type& type, const std::string& path, std::size_t& count, View::List& statements) {
    if (type.kind != TypeKind::scalar && type.kind != TypeKind::pointer) {
        each_part(type, [&](const std::string& way, const Type& part) {
            add_statements(part, path + way, count, statements);
        });
        return;
    }
    // A bool's bytes differ from target to target, and enums have types of their own.
    const bool is_bool = type.kind == TypeKind::scalar && type.scalar == ScalarType::boolean;
    const std::string stored = type.kind == TypeKind::pointer ? "uint64_t"
                               : is_bool                      ? "int"
                                                              : to_string(type.scalar);
    statements.emplace_back("((" + stored + "*)(kf_args.kf_at + " + std::to_string(8 * count++) +
                            "))[0] = " + stored + "(" + path + ")");
}

/// Returns nothing where the constructor takes what can't be read from memory.
std::optional<std::string> constructor_call(const Type& type, const Function& constructor) {
    if (constructor.is_generic()) return std::nullopt;
    std::string arguments;
    for (const Parameter& parameter : constructor.parameters) {
        if (holds_resource(parameter.type) || parameter.direction != Direction::in) return std::nullopt;
        arguments += (arguments.empty() ? "kf_any<" : ", kf_any<") + declared_name(parameter.type) + ">()";
    }
    return type.name + "(" + arguments + ")";
}

/// Adds the struct, and those in it, that aren't there yet.
void add_struct_types(const Type& type, std::vector<Type>& types) {
    const Type& inner = innermost_of(type);
    const auto is_same = [&](const Type& known) { return known.name == inner.name; };
    if (inner.kind != TypeKind::structure || std::ranges::any_of(types, is_same)) return;
    for (const Field& field : inner.fields) add_struct_types(field.type, types);
    types.push_back(inner);
}

}  // namespace

std::optional<std::size_t> number_count(const Type& type) {
    if (type.kind == TypeKind::scalar || type.kind == TypeKind::pointer) return 1;
    const bool has_parts = type.kind == TypeKind::vector || type.kind == TypeKind::matrix ||
                           (type.kind == TypeKind::array && type.extent > 0) ||
                           (type.kind == TypeKind::structure && !type.fields.empty() && !type.host);
    if (!has_parts) return std::nullopt;
    if (type.kind == TypeKind::array && static_cast<std::size_t>(type.extent) > most_numbers)
        return std::nullopt;
    std::optional<std::size_t> count = 0;
    each_part(type, [&](const std::string&, const Type& part) {
        const std::optional<std::size_t> own = number_count(part);
        count = own && count && *count + *own <= most_numbers ? std::optional(*count + *own) : std::nullopt;
    });
    return count;
}

bool MadeStruct::may_have_default(const Field& field) const {
    return (field.has_default || has_constructors) && number_count(field.type);
}

std::vector<MadeStruct> made_structs(const Plan& plan, const std::vector<Function>& functions,
                                     const std::vector<GlobalParameter>& globals) {
    std::vector<Type> types;
    for (const UsedStruct& used : used_structs(plan)) types.push_back(used.type);
    for (const GlobalParameter& global : globals) add_struct_types(global.type, types);
    std::vector<MadeStruct> structs;
    for (const Type& type : types) {
        if (type.kind != TypeKind::structure || type.host) continue;
        MadeStruct made{type, {}};
        for (const Function& function : functions) {
            if (function.member != Member::constructor || owner_of(function.name) != type.name) continue;
            made.has_constructors = true;
            if (const std::optional<std::string> way = constructor_call(type, function))
                made.ways.push_back(*way);
        }
        if (!made.has_constructors) made.ways.emplace_back("{}");
        const auto may_have = [&](const Field& field) {
            return field.has_default || made.may_have_default(field);
        };
        if (!made.ways.empty() && std::ranges::any_of(type.fields, may_have))
            structs.push_back(std::move(made));
    }
    return structs;
}

Outcome<KernelSource> emit_field_defaults(const Plan& plan, const std::vector<MadeStruct>& structs) {
    std::vector<std::string> imports;
    const PlannedCall* first = nullptr;
    for (const PlannedFunction& function : plan.functions) {
        for (const PlannedCall& call : function.calls) {
            if (first == nullptr) first = &call;
            for (std::string& name : imports_of(plan, call, {})) {
                if (std::ranges::find(imports, name) == imports.end()) imports.push_back(std::move(name));
            }
        }
    }
    View::List made;
    View::List statements;
    std::size_t count = 0;
    for (const MadeStruct& one : structs) {
        for (const std::string& way : one.ways) {
            const std::string name = "kf_made_" + std::to_string(made.size());
            made.emplace_back(View::Object{{"type", one.type.name}, {"name", name}, {"way", way}});
            for (const Field& field : one.type.fields) {
                if (one.may_have_default(field))
                    add_statements(field.type, name + "." + field.name, count, statements);
            }
        }
    }
    KernelSource source;
    source.entry_point = "kf_field_defaults";
    Outcome<std::string> text =
        render("field_defaults.slang.mustache", templates::field_defaults_slang_mustache,
               View(View::Object{{"imports", View::List(imports.begin(), imports.end())},
                                 {"entry", source.entry_point},
                                 {"made", std::move(made)},
                                 {"statements", std::move(statements)}}));
    if (!text) return text.errors();
    source.text = std::move(text.value());
    if (first != nullptr) {
        Outcome<std::string> values = emit_values(first->link, plan.imports);
        if (!values) return values.errors();
        source.values = std::move(values.value());
    }
    return source;
}

std::string cpp_number(ScalarType scalar, std::uint64_t bits) {
    if (scalar == ScalarType::boolean) return bits != 0 ? "true" : "false";
    if (scalar == ScalarType::float64) {
        const auto number = std::bit_cast<double>(bits);
        return std::isfinite(number) ? decimal(number)
                                     : "std::bit_cast<double>(std::uint64_t{" + text_of(bits) + "})";
    }
    if (is_floating(scalar)) {
        const float number = float_of(scalar, bits);
        if (std::isfinite(number)) return decimal(number) + "f";
        return "std::bit_cast<float>(std::uint32_t{" + text_of(std::bit_cast<std::uint32_t>(number)) + "})";
    }
    if (!is_signed_integer(scalar)) return text_of(unsigned_of(scalar, bits)) + "u";
    const std::int64_t number = signed_of(scalar, bits);
    // The least of all has no literal.
    return number == INT64_MIN ? text_of(number + 1) + " - 1" : text_of(number);
}

std::string python_number(ScalarType scalar, std::uint64_t bits) {
    if (scalar == ScalarType::boolean) return bits != 0 ? "True" : "False";
    if (is_floating(scalar)) {
        const bool is_double = scalar == ScalarType::float64;
        const double number = is_double ? std::bit_cast<double>(bits) : float_of(scalar, bits);
        if (std::isnan(number)) return "float(\"nan\")";
        if (std::isinf(number)) return number > 0 ? "float(\"inf\")" : "float(\"-inf\")";
        return is_double ? decimal(number) : decimal(static_cast<float>(number));
    }
    return is_signed_integer(scalar) ? text_of(signed_of(scalar, bits)) : text_of(unsigned_of(scalar, bits));
}

std::string python_literal(const Type& type, std::span<const std::uint64_t> numbers,
                           const std::function<std::string(const Type&)>& class_of) {
    if (type.kind == TypeKind::pointer) return python_number(ScalarType::uint64, numbers.front());
    if (type.kind == TypeKind::scalar) return python_number(type.scalar, numbers.front());
    std::string text;
    each_part(type, [&](const std::string&, const Type& part) {
        const std::size_t count = number_count(part).value();
        text += (text.empty() ? "" : ", ") + python_literal(part, numbers.first(count), class_of);
        numbers = numbers.subspan(count);
    });
    return type.kind == TypeKind::structure ? class_of(type) + "(" + text + ")" : "[" + text + "]";
}

std::string cpp_initialiser(const Type& type, std::span<const std::uint64_t> numbers) {
    if (type.kind == TypeKind::pointer) return cpp_number(ScalarType::uint64, numbers.front());
    if (type.kind == TypeKind::scalar) return cpp_number(type.scalar, numbers.front());
    std::string text;
    each_part(type, [&](const std::string&, const Type& part) {
        const std::size_t count = number_count(part).value();
        const std::string own = cpp_initialiser(part, numbers.first(count));
        text += (text.empty() ? "" : ", ") + (part.kind == TypeKind::scalar ? own : "{" + own + "}");
        numbers = numbers.subspan(count);
    });
    // The array in a std::array, and the rows of a kf::Matrix.
    const bool is_nested = type.kind == TypeKind::array || type.kind == TypeKind::matrix;
    return is_nested ? "{" + text + "}" : text;
}

}  // namespace kf::gen
