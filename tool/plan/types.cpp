// Slang types as host elements.
#include "plan/types.h"

#include <array>
#include <numeric>

namespace kf::gen {

namespace {

using manifest::Scalar;

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
    if (type.kind == TypeKind::scalar) return manifest::Element{scalar, {}};
    if (type.kind == TypeKind::vector) return manifest::Element{scalar, {type.columns}};
    return std::nullopt;
}

std::optional<manifest::Element> parse_element(std::string_view name) {
    if (const auto scalar = scalar_named(name)) return manifest::Element{*scalar, {}};
    if (name.empty()) return std::nullopt;
    const char last = name.back();
    if (last < '2' || last > '4') return std::nullopt;
    const auto scalar = scalar_named(name.substr(0, name.size() - 1));
    if (!scalar) return std::nullopt;
    return manifest::Element{*scalar, {last - '0'}};
}

std::string slang_name(manifest::Scalar scalar) { return std::string(entry(scalar).name); }

std::string slang_name(const manifest::Element& element) {
    std::string name = slang_name(element.scalar);
    for (const std::int64_t extent : element.extents) name += std::to_string(extent);
    return name;
}

std::int64_t storage_size(manifest::Scalar scalar) { return entry(scalar).size; }

std::int64_t scalar_count(const std::vector<std::int64_t>& extents) {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

bool is_floating_point(manifest::Scalar scalar) {
    return scalar == Scalar::float16 || scalar == Scalar::float32 || scalar == Scalar::float64;
}

std::vector<std::string> element_names() {
    std::vector<std::string> names;
    for (const ScalarName& known : scalar_names) {
        names.emplace_back(known.name);
        for (const char* length : {"2", "3", "4"}) names.push_back(std::string(known.name) + length);
    }
    return names;
}

}  // namespace kf::gen
