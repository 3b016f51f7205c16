// Slang types as host elements.
#include "plan/types.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/convert.h"

namespace kf::gen {

namespace {

/// The most extents of an artifact's elements.
constexpr std::size_t max_extents = 4;

/// Every scalar type, in order.
std::vector<ScalarType> all_scalars() {
    std::vector<ScalarType> scalars;
    for (std::size_t i = 0; i < manifest::scalar_words.size(); ++i)
        scalars.push_back(ScalarType{static_cast<std::uint8_t>(i)});
    return scalars;
}

constexpr std::array<std::pair<std::string_view, ScalarType>, 7> aliases{{
    {"int32_t", ScalarType::int32},
    {"uint32_t", ScalarType::uint32},
    {"float16_t", ScalarType::float16},
    {"float32_t", ScalarType::float32},
    {"float64_t", ScalarType::float64},
    {"long", ScalarType::int64},
    {"ulong", ScalarType::uint64},
}};

/// Slang's SPIR-V for matrices of other integers is not valid: it lowers those of bool, int and uint only.
bool has_matrices(ScalarType scalar) {
    return is_floating(scalar) || scalar == ScalarType::boolean || scalar == ScalarType::int32 ||
           scalar == ScalarType::uint32;
}

/// Slang has no code for matrices of one row or column.
bool is_one_wide(const Type& matrix) { return matrix.rows == 1 || matrix.columns == 1; }

std::optional<ScalarType> scalar_named(std::string_view name) {
    for (const ScalarType known : all_scalars()) {
        if (to_string(known) == name) return known;
    }
    for (const auto& [alias, scalar] : aliases) {
        if (alias == name) return scalar;
    }
    return std::nullopt;
}

}  // namespace

std::optional<manifest::Element> element_of(const Type& type) {
    const ScalarType scalar = type.scalar;
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

namespace {

/// Returns the advice for a resource that can't be passed.
std::string resource_advice(const std::string& name) {
    constexpr const char* block =
        "kfgen takes the value for the block where a parameter names it itself: make it 'ConstantBuffer<T>', "
        "without a macro or typedef, or the struct";
    constexpr const char* own_name =
        "a module declares a type of this name, or of another buffer's, so that Slang's isn't passed: "
        "make it a StructuredBuffer";
    constexpr const char* layout = "leave the layout out, or make it ScalarDataLayout";
    constexpr std::array<std::pair<std::string_view, const char*>, 7> advice{{
        {"StructuredBuffer", layout},
        {"RWStructuredBuffer", layout},
        {"Ptr<", layout},
        {"Buffer<", own_name},
        {"RWBuffer<", own_name},
        {"ConstantBuffer", block},
        {"ParameterBlock", block},
    }};
    if (name.find("norm ") != std::string::npos)
        return "elements are what memory holds, without a format: take floats, or integers, and convert them "
               "in Slang";
    for (const auto& [start, text] : advice) {
        if (name.starts_with(start)) return text;
    }
    if (name.find("Texture") != std::string::npos && name.find("Buffer") == std::string::npos)
        return "this version of kfgen passes textures that are read or written in any order: make it a "
               "Texture2D "
               "or a RWTexture2D, or another of their kin";
    return "this version of kfgen passes no other resources than textures, samplers, StructuredBuffer, "
           "ByteAddressBuffer and Buffer";
}

}  // namespace

std::string texture_kind(const Type& type) {
    manifest::kinds::Texture texture;
    texture.access = type.is_writable ? manifest::Access::read_write : manifest::Access::read;
    texture.dimension = type.texture.dimension;
    texture.is_array = type.texture.is_array;
    return texture_word(texture);
}

std::vector<std::string> notes_of_refused(const Type& type) {
    if (type.kind == TypeKind::array && type.element.size() == 1)
        return notes_of_refused(type.element.front());
    if (type.kind == TypeKind::tensor) {
        return {"give it the kind tensor[rank]"};
    }
    if (type.kind == TypeKind::pointer) return {"give it the kind 'pointer'"};
    if (type.kind == TypeKind::texture) return {"give it the kind '" + texture_kind(type) + "'"};
    if (type.kind == TypeKind::sampler) return {"give it the kind 'sampler'"};
    if (type.kind == TypeKind::resource) return {resource_advice(type.name)};
    if (type.kind == TypeKind::matrix) {
        const std::string scalar = to_string(type.scalar);
        if (is_one_wide(type)) return {"declare it " + scalar + std::to_string(type.rows * type.columns)};
        return {"an array of vectors does: " + scalar + std::to_string(type.columns) + "[" +
                std::to_string(type.rows) + "]"};
    }
    if (const std::string_view name = type.name; name.starts_with("matrix<") || name.starts_with("vector<")) {
        const std::size_t size = name.find(',');
        const auto counts = [](char c) { return (c >= '0' && c <= '9') || c == ',' || c == ' ' || c == '>'; };
        if (size != std::string_view::npos &&
            std::all_of(name.begin() + static_cast<std::ptrdiff_t>(size), name.end(), counts))
            return {"an array does, of a vector of up to 4 or a matrix of up to 4 rows and columns"};
    }
    if (!type.link_extent.empty()) return {"linking decides its size: take an array, or state the number"};
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

std::string slang_name(const manifest::Element& element) { return to_string(element_type(element)); }

const Type& innermost_of_arrays(const Type& type) {
    const Type* inner = &type;
    while (inner->kind == TypeKind::array && inner->element.size() == 1) inner = &inner->element.front();
    return *inner;
}

const Type& innermost_of(const Type& type) {
    const Type* inner = &type;
    const auto holds = [](const Type& one) {
        const bool container =
            one.kind == TypeKind::array || one.kind == TypeKind::tensor || one.kind == TypeKind::buffer;
        return container && one.element.size() == 1;
    };
    while (holds(*inner)) inner = &inner->element.front();
    return *inner;
}

std::string without_enum(const std::string& text, const Type& type) {
    const Type& inner = innermost_of(type);
    const std::size_t bracket = std::min(text.find('['), text.size());
    if (!inner.is_enum || text.substr(0, bracket) != inner.name) return text;
    return kind_name(inner) + text.substr(bracket);
}

std::string with_enum(const std::string& text, const Type& type) {
    const Type& inner = innermost_of(type);
    const std::size_t bracket = std::min(text.find('['), text.size());
    if (inner.members.empty() || text.substr(0, bracket) != kind_name(inner)) return text;
    return inner.name + text.substr(bracket);
}

std::string enum_last_name(const Type& type) { return type.name.substr(type.name.find_last_of(".:") + 1); }

bool is_resource(const Type& type) {
    return type.kind == TypeKind::buffer || type.kind == TypeKind::texture || type.kind == TypeKind::sampler;
}

bool holds_resource(const Type& type) {
    if (type.kind == TypeKind::array) return holds_resource(type.element.front());
    return is_resource(type) || std::any_of(type.fields.begin(), type.fields.end(),
                                            [](const Field& field) { return holds_resource(field.type); });
}

bool holds_tensor(const Type& type) {
    if (type.kind == TypeKind::array) return holds_tensor(type.element.front());
    return type.kind == TypeKind::tensor ||
           std::any_of(type.fields.begin(), type.fields.end(),
                       [](const Field& field) { return holds_tensor(field.type); });
}

bool holds_own_struct(const Type& type) {
    return type.own != OwnStruct::none ||
           std::any_of(type.element.begin(), type.element.end(), holds_own_struct) ||
           std::any_of(type.fields.begin(), type.fields.end(),
                       [](const Field& field) { return holds_own_struct(field.type); });
}

bool is_link_sized(const Type& type) {
    return !type.link_extent.empty() ||
           std::any_of(type.element.begin(), type.element.end(), is_link_sized) ||
           std::any_of(type.fields.begin(), type.fields.end(),
                       [](const Field& field) { return is_link_sized(field.type); });
}

std::string declared_name(const Type& type) {
    if (type.is_enum || type.kind == TypeKind::pointer || is_resource(type)) return type.name;
    if (type.kind == TypeKind::array) {
        // An array of the number itself is another type to Slang than one whose number is linked.
        const std::string extent = type.link_extent.empty() ? std::to_string(type.extent) : type.link_extent;
        return "Array<" + declared_name(type.element.front()) + ", " + extent + ">";
    }
    if (type.kind == TypeKind::tensor) {
        const std::string further = !type.addressing.empty() ? ", " + type.addressing
                                    : is_view(type.form)     ? std::string()
                                                             : ", " + std::to_string(type.extent);
        return std::string(form_name(type.form)) + "<" + declared_name(type.element.front()) + further + ">";
    }
    return kind_name(type);
}

namespace {

/// A pointer as C spells it, of Slang's name for it: "float**" of "Ptr<Ptr<float, …>, …>".
std::string pointer_name(const std::string& name) {
    constexpr std::string_view start = "Ptr<";
    constexpr std::string_view end = ", AddressSpace.Device, DefaultDataLayout>";
    if (!name.starts_with(start) || !name.ends_with(end)) return name;
    const std::string inner = name.substr(start.size(), name.size() - start.size() - end.size());
    const std::size_t access = inner.rfind(", Access.");
    if (access == std::string::npos) return name;
    const std::string pointee = pointer_name(inner.substr(0, access));
    const std::string allowed = inner.substr(access);
    return allowed == ", Access.ReadWrite" ? pointee + "*" : "Ptr<" + pointee + allowed + ">";
}

}  // namespace

std::string kind_name(const Type& type) {
    const std::string scalar = to_string(type.scalar);
    switch (type.kind) {
        case TypeKind::vector: return scalar + std::to_string(type.columns);
        case TypeKind::matrix: return scalar + std::to_string(type.rows) + "x" + std::to_string(type.columns);
        case TypeKind::array: break;
        case TypeKind::texture:
        case TypeKind::tensor: return kind_name(type.element.front());
        case TypeKind::buffer: return type.element.empty() ? "uint8_t" : kind_name(type.element.front());
        case TypeKind::pointer:
            return type.element.empty() ? pointer_name(type.name) : kind_name(type.element.front()) + "*";
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

std::int64_t scalar_count(const std::vector<std::int64_t>& extents) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents)
        count = extent > 0 && count > most_scalars / extent ? most_scalars : count * extent;
    return count;
}

std::vector<std::string> scalar_type_names() {
    std::vector<std::string> names;
    for (const ScalarType known : all_scalars()) names.push_back(to_string(known));
    return names;
}

std::vector<std::string> element_names() {
    std::vector<std::string> names;
    for (const ScalarType known : all_scalars()) {
        names.push_back(to_string(known));
        for (const char* columns : {"2", "3", "4"}) names.push_back(to_string(known) + columns);
    }
    return names;
}

}  // namespace kf::gen
