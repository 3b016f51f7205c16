// Kernels with other values of the constants that run time chooses.
#include "core/choose_constants.h"

#include <kf/error.h>
#include <kf/half.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/join.h"
#include "core/scalar_range.h"

namespace kf::detail {
namespace {

using manifest::Kernel;
using manifest::Manifest;
using manifest::RunTimeConstant;

template <class Number>
std::optional<Number> parsed(const std::string& text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

template <class Number>
std::optional<std::uint64_t> integer_bits(const std::string& text) {
    const auto number = parsed<Number>(text);
    if (!number) return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Number>>(*number));
}

std::optional<std::uint64_t> floating_bits(const std::string& text, ScalarType type) {
    const auto number = parsed<double>(text);
    constexpr double largest_half = 65504;
    const double largest = type == ScalarType::float16   ? largest_half
                           : type == ScalarType::float32 ? double{std::numeric_limits<float>::max()}
                                                         : std::numeric_limits<double>::max();
    if (!number || !(std::abs(*number) <= largest)) return std::nullopt;
    if (type == ScalarType::float16) return half(*number).bits();
    if (type == ScalarType::float32) return std::bit_cast<std::uint32_t>(static_cast<float>(*number));
    return std::bit_cast<std::uint64_t>(*number);
}

bool is_truth_value(const std::string& text) { return text == "true" || text == "false"; }

/// Spells it as manifests do: equal values are equal texts.
std::string settled_text(const std::string& text, ScalarType type) {
    if (!is_floating(type)) return text == "-0" ? "0" : text;
    std::array<char, 32> room{};
    const double number = parsed<double>(text).value_or(0);
    const auto written =
        type == ScalarType::float64
            ? std::to_chars(room.data(), room.data() + room.size(), number)
            : std::to_chars(room.data(), room.data() + room.size(),
                            type == ScalarType::float16 ? float{half(number)} : static_cast<float>(number));
    return {room.data(), written.ptr};
}

std::uint32_t pipeline_bytes(ScalarType type) {
    return type == ScalarType::boolean ? 4 : static_cast<std::uint32_t>(size_of(type));
}

/// Spells a value so that identifiers, which lose signs, differ where values do.
std::string word_of(std::string text) {
    std::erase(text, '+');
    return text.starts_with('-') ? "minus_" + text.substr(1) : text;
}

/// "taps = 8, gain = 0.5"
std::string values_text(const Manifest& manifest, const ConstantValues& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i)
        text += (i == 0 ? "" : ", ") + manifest.constants[i].name + " = " + values[i];
    return text;
}

std::int64_t threads_along(const manifest::GroupExtent& extent, const ConstantValues& values) {
    constexpr std::int64_t too_many = std::int64_t{1} << 20;
    std::int64_t product = std::min(extent.factor, too_many);
    for (const std::int64_t index : extent.constants) {
        const std::string& text = values.at(static_cast<std::size_t>(index));
        const auto number = parsed<std::int64_t>(text);
        const std::int64_t factor = !number && parsed<std::uint64_t>(text) ? too_many : number.value_or(0);
        if (factor <= 0) return 0;
        product = std::min(product * std::min(factor, too_many), too_many);
    }
    return product;
}

/// Other kernels than those of the function count for nothing.
void check_groups(const Manifest& manifest, const manifest::Function& function,
                  const ConstantValues& values) {
    for (const manifest::Call& call : function.calls) {
        if (call.forward.contiguous < 0) continue;
        const Kernel& kernel = manifest.kernels[static_cast<std::size_t>(call.forward.contiguous)];
        if (kernel.group_extents.empty()) continue;
        const std::array<std::int64_t, 3> size = group_size_with(kernel.group_extents, values);
        if (manifest::is_possible_group(size)) continue;
        throw ArgumentError(ErrorCode::value_range, function.name + ": options: constants: with " +
                                                        values_text(manifest, values) + " a group has [" +
                                                        join(size) + "] threads; expected " +
                                                        manifest::possible_groups);
    }
}

}  // namespace

ConstantValues default_constants(const Manifest& manifest) {
    ConstantValues values;
    for (const RunTimeConstant& constant : manifest.constants) values.push_back(constant.values.front());
    return values;
}

std::array<std::int64_t, 3> group_size_with(const manifest::GroupExtents& extents,
                                            const ConstantValues& values) {
    std::array<std::int64_t, 3> size{1, 1, 1};
    std::transform(extents.begin(), extents.end(), size.begin(),
                   [&](const manifest::GroupExtent& extent) { return threads_along(extent, values); });
    return size;
}

std::optional<std::uint64_t> constant_bits(const std::string& text, ScalarType type) {
    switch (type) {
        case ScalarType::boolean:
            if (!is_truth_value(text)) return std::nullopt;
            return text == "true" ? 1 : 0;
        case ScalarType::int8: return integer_bits<std::int8_t>(text);
        case ScalarType::int16: return integer_bits<std::int16_t>(text);
        case ScalarType::int32: return integer_bits<std::int32_t>(text);
        case ScalarType::int64: return integer_bits<std::int64_t>(text);
        case ScalarType::uint8: return integer_bits<std::uint8_t>(text);
        case ScalarType::uint16: return integer_bits<std::uint16_t>(text);
        case ScalarType::uint32: return integer_bits<std::uint32_t>(text);
        case ScalarType::uint64: return integer_bits<std::uint64_t>(text);
        default: return floating_bits(text, type);
    }
}

ConstantValues chosen_constants(const Manifest& manifest, std::size_t index, ConstantValues values,
                                std::vector<std::pair<std::string, std::string>>& given) {
    const manifest::Function& function = manifest.functions.at(index);
    bool any = false;
    for (std::size_t i = 0; i < manifest.constants.size(); ++i) {
        const RunTimeConstant& constant = manifest.constants[i];
        for (const auto& [name, text] : given) {
            if (name != constant.name) continue;
            if (!constant_bits(text, constant.type)) {
                const bool is_number = constant.type != ScalarType::boolean;
                const bool other_type = is_truth_value(text) == is_number ||
                                        (is_number && !is_floating(constant.type) &&
                                         text.find_first_not_of("-0123456789") != std::string::npos);
                throw ArgumentError(other_type ? ErrorCode::type_mismatch : ErrorCode::value_range,
                                    function.name + ": options: constants." + name + ": expected " +
                                        to_string(constant.type) + ", " +
                                        (is_number ? range_text(constant.type) : "true or false") +
                                        ", found " + text);
            }
            values[i] = settled_text(text, constant.type);
            any = true;
        }
        std::erase_if(given, [&](const auto& one) { return one.first == constant.name; });
    }
    if (any) check_groups(manifest, function, values);
    return values;
}

std::string constants_text(const Manifest& manifest) {
    return join(manifest.constants, [](const RunTimeConstant& constant) {
        return constant.name + " (" + to_string(constant.type) + "; " + join(constant.values) + ")";
    });
}

Manifest choose_constants(const Manifest& all, const ConstantValues& values) {
    Manifest made = all;
    for (Kernel& kernel : made.kernels) {
        for (const std::int64_t index : kernel.constants) {
            const auto i = static_cast<std::size_t>(index);
            const ScalarType type = all.constants[i].type;
            kernel.chosen.push_back({static_cast<std::uint32_t>(index), pipeline_bytes(type),
                                     constant_bits(values[i], type).value_or(0)});
        }
        if (!kernel.group_extents.empty()) {
            const std::array<std::int64_t, 3> size = group_size_with(kernel.group_extents, values);
            std::transform(size.begin(), size.end(), kernel.group_size.begin(),
                           [](std::int64_t one) { return static_cast<std::uint32_t>(one); });
        }
        std::erase_if(kernel.images, [&](const manifest::Image& image) {
            return !image.constants.empty() && image.constants != values;
        });
    }
    std::string chosen;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == all.constants[i].values.front()) continue;
        chosen += (chosen.empty() ? "" : ", ") + all.constants[i].name + "=" + word_of(values[i]);
    }
    if (chosen.empty()) return made;
    for (manifest::Function& function : made.functions) function.name += ".options(constants " + chosen + ")";
    return made;
}

void check_listed(const Manifest& manifest, const ConstantValues& values, const std::string& backend) {
    if (backend != "cuda") return;
    for (const Kernel& kernel : manifest.kernels) {
        if (kernel.constants.empty() || !kernel.layouts.contains(backend)) continue;
        const bool has_code = std::ranges::any_of(
            kernel.images, [](const manifest::Image& image) { return image.format != "spirv"; });
        if (has_code) continue;
        throw ArgumentError(ErrorCode::unknown_name,
                            manifest.name + ": options: constants: nothing was generated for CUDA with " +
                                values_text(manifest, values) + "; there is: " + constants_text(manifest) +
                                "; the spec's \"constants\" lists them");
    }
}

}  // namespace kf::detail
