// Slang types as host elements.
#include "plan/types.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace kf::gen {

namespace {

using manifest::Scalar;

/// What an artifact's elements can have.
constexpr std::size_t max_extents = 4;

struct ScalarName {
    std::string_view name;
    Scalar scalar;
    std::int64_t size;
};

constexpr std::array<ScalarName, 12> scalar_names{{
    {"bool", Scalar::boolean, 1},
    {"int8_t", Scalar::int8, 1},
    {"int16_t", Scalar::int16, 2},
    {"int", Scalar::int32, 4},
    {"int64_t", Scalar::int64, 8},
    {"uint8_t", Scalar::uint8, 1},
    {"uint16_t", Scalar::uint16, 2},
    {"uint", Scalar::uint32, 4},
    {"uint64_t", Scalar::uint64, 8},
    {"half", Scalar::float16, 2},
    {"float", Scalar::float32, 4},
    {"double", Scalar::float64, 8},
}};

const ScalarName& entry(Scalar scalar) { return scalar_names.at(static_cast<std::size_t>(scalar)); }

constexpr std::array<std::pair<std::string_view, Scalar>, 7> aliases{{
    {"int32_t", Scalar::int32},
    {"uint32_t", Scalar::uint32},
    {"float16_t", Scalar::float16},
    {"float32_t", Scalar::float32},
    {"float64_t", Scalar::float64},
    {"long", Scalar::int64},
    {"ulong", Scalar::uint64},
}};

/// Slang's SPIR-V for matrices of other integers is not valid: it lowers those of bool, int and uint only.
bool has_matrices(Scalar scalar) {
    return is_floating_point(scalar) || scalar == Scalar::boolean || scalar == Scalar::int32 ||
           scalar == Scalar::uint32;
}

/// Slang has no code for matrices of one row or column.
bool is_one_wide(const Type& matrix) { return matrix.rows == 1 || matrix.columns == 1; }

std::optional<Scalar> scalar_named(std::string_view name) {
    for (const ScalarName& known : scalar_names) {
        if (known.name == name) return known.scalar;
    }
    for (const auto& [alias, scalar] : aliases) {
        if (alias == name) return scalar;
    }
    return std::nullopt;
}

}  // namespace

std::optional<manifest::Element> element_of(const Type& type) {
    // The two enumerations list the same scalars in the same order.
    static_assert(static_cast<int>(ScalarType::float64) == static_cast<int>(Scalar::float64));
    const auto scalar = static_cast<Scalar>(type.scalar);
    switch (type.kind) {
        case TypeKind::scalar: return manifest::Element{scalar, {}};
        case TypeKind::vector: return manifest::Element{scalar, {type.columns}};
        case TypeKind::matrix:
            if (!has_matrices(scalar) || is_one_wide(type)) return std::nullopt;
            return manifest::Element{scalar, {type.rows, type.columns}};
        case TypeKind::array: break;
        default: return std::nullopt;
    }
    if (type.extent <= 0 || type.element.size() != 1) return std::nullopt;
    std::optional<manifest::Element> element = element_of(type.element.front());
    if (!element || element->extents.size() >= max_extents) return std::nullopt;
    element->extents.insert(element->extents.begin(), type.extent);
    return element;
}

std::vector<std::string> notes_of_refused(const Type& type) {
    if (type.kind == TypeKind::array && type.element.size() == 1)
        return notes_of_refused(type.element.front());
    if (type.kind == TypeKind::tensor) {
        return {"make each tensor a parameter, or a field of a struct that is given by \"fields\""};
    }
    if (type.kind == TypeKind::matrix) {
        const std::string scalar = slang_name(static_cast<Scalar>(type.scalar));
        if (is_one_wide(type)) return {"declare it " + scalar + std::to_string(type.rows * type.columns)};
        return {"an array of vectors does: " + scalar + std::to_string(type.columns) + "[" +
                std::to_string(type.rows) + "]"};
    }
    if (type.name.find("BFloat16") == std::string::npos) return {};
    return {"Slang 2026.12 can store a BFloat16 but neither computes with it nor differentiates it",
            "take half or float, and convert on the host"};
}

namespace {

std::optional<std::int64_t> length(char digit) {
    if (digit < '2' || digit > '4') return std::nullopt;
    return digit - '0';
}

/// "[4]" and "[2][3]" after an element; nothing when it is anything else.
std::optional<std::vector<std::int64_t>> parse_extents(std::string_view text) {
    std::vector<std::int64_t> extents;
    while (!text.empty()) {
        const std::size_t end = text.find(']');
        if (text.front() != '[' || end == std::string_view::npos) return std::nullopt;
        std::int64_t extent = 0;
        const auto [last, failure] = std::from_chars(text.data() + 1, text.data() + end, extent);
        if (failure != std::errc() || last != text.data() + end || extent <= 0) return std::nullopt;
        extents.push_back(extent);
        text.remove_prefix(end + 1);
    }
    return extents;
}

std::optional<manifest::Element> parse_plain(std::string_view name) {
    if (const auto scalar = scalar_named(name)) return manifest::Element{*scalar, {}};
    const std::size_t size = name.size();
    if (size > 3 && name[size - 2] == 'x') {
        const auto scalar = scalar_named(name.substr(0, size - 3));
        const auto rows = length(name[size - 3]);
        const auto columns = length(name[size - 1]);
        if (scalar && rows && columns) return manifest::Element{*scalar, {*rows, *columns}};
    }
    if (size < 2) return std::nullopt;
    const auto scalar = scalar_named(name.substr(0, size - 1));
    const auto columns = name.back() == '1' ? std::optional<std::int64_t>(1) : length(name[size - 1]);
    if (!scalar || !columns) return std::nullopt;
    return manifest::Element{*scalar, {*columns}};
}

}  // namespace

std::optional<manifest::Element> parse_element(std::string_view name) {
    const std::size_t bracket = std::min(name.find('['), name.size());
    std::optional<manifest::Element> element = parse_plain(name.substr(0, bracket));
    std::optional<std::vector<std::int64_t>> extents = parse_extents(name.substr(bracket));
    if (!element || !extents) return std::nullopt;
    extents->insert(extents->end(), element->extents.begin(), element->extents.end());
    if (extents->size() > max_extents) return std::nullopt;
    element->extents = std::move(*extents);
    return element;
}

std::string slang_name(manifest::Scalar scalar) { return std::string(entry(scalar).name); }

std::string slang_name(const manifest::Element& element) {
    const auto& extents = element.extents;
    const bool builtin = extents.size() <= 2 && std::all_of(extents.begin(), extents.end(),
                                                            [](std::int64_t n) { return n >= 2 && n <= 4; });
    std::string name = slang_name(element.scalar);
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const std::string extent = std::to_string(extents[i]);
        name += builtin ? (i == 0 ? "" : "x") + extent : "[" + extent + "]";
    }
    return name;
}

const Type& innermost_of(const Type& type) {
    const Type* inner = &type;
    while ((inner->kind == TypeKind::array || inner->kind == TypeKind::tensor) && inner->element.size() == 1)
        inner = &inner->element.front();
    return *inner;
}

std::string without_enum(const std::string& text, const Type& type) {
    const Type& inner = innermost_of(type);
    const std::size_t bracket = std::min(text.find('['), text.size());
    if (!inner.is_enum || text.substr(0, bracket) != inner.name) return text;
    return kind_name(inner) + text.substr(bracket);
}

std::string declared_name(const Type& type) {
    if (type.is_enum) return type.name;
    if (type.kind == TypeKind::array) {
        return "Array<" + declared_name(type.element.front()) + ", " + std::to_string(type.extent) + ">";
    }
    if (type.kind == TypeKind::tensor) {
        return std::string(form_name(type.form)) + "<" + declared_name(type.element.front()) + ", " +
               std::to_string(type.extent) + ">";
    }
    return kind_name(type);
}

std::string kind_name(const Type& type) {
    const std::string scalar = slang_name(static_cast<Scalar>(type.scalar));
    switch (type.kind) {
        case TypeKind::vector: return scalar + std::to_string(type.columns);
        case TypeKind::matrix: return scalar + std::to_string(type.rows) + "x" + std::to_string(type.columns);
        case TypeKind::array: break;
        case TypeKind::tensor: return kind_name(type.element.front());
        default: return type.kind == TypeKind::scalar ? scalar : type.name;
    }
    // The outermost extent comes first: float2[4][3] is four arrays of three.
    std::string extents;
    const Type* element = &type;
    for (; element->kind == TypeKind::array; element = &element->element.front()) {
        extents += "[" + std::to_string(element->extent) + "]";
    }
    return kind_name(*element) + extents;
}

std::int64_t storage_size(manifest::Scalar scalar) { return entry(scalar).size; }

std::int64_t scalar_count(const std::vector<std::int64_t>& extents) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents)
        count = extent > 0 && count > most_scalars / extent ? most_scalars : count * extent;
    return count;
}

bool is_floating_point(manifest::Scalar scalar) {
    return scalar == Scalar::float16 || scalar == Scalar::float32 || scalar == Scalar::float64;
}

std::vector<std::string> scalar_type_names() {
    std::vector<std::string> names;
    for (const ScalarName& known : scalar_names) names.emplace_back(known.name);
    return names;
}

std::vector<std::string> element_names() {
    std::vector<std::string> names;
    for (const ScalarName& known : scalar_names) {
        names.emplace_back(known.name);
        for (const char* columns : {"2", "3", "4"}) names.push_back(std::string(known.name) + columns);
    }
    return names;
}

}  // namespace kf::gen
