// kf::Sampler: how a texture's texels become the value at a place between them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace kf {

class Device;

enum class Filter : std::uint8_t { nearest, linear };
/// How a sampler continues a texture beyond its edges.
enum class AddressMode : std::uint8_t { repeat, mirror, clamp, border };
/// The comparison of a sampler with a texel: `less` is 1 where the value given is less than the texel.
enum class Compare : std::uint8_t {
    none,
    never,
    less,
    equal,
    less_equal,
    greater,
    not_equal,
    greater_equal,
    always
};
enum class Border : std::uint8_t { transparent_black, opaque_black, opaque_white };

/// Filters: one for all three, or one for each.
struct Filters {
    constexpr Filters(Filter all)  // NOLINT(google-explicit-constructor)
        : minify(all), magnify(all), mip(all) {}
    constexpr Filters(Filter minifying, Filter magnifying, Filter between_mips)
        : minify(minifying), magnify(magnifying), mip(between_mips) {}

    Filter minify;
    Filter magnify;
    Filter mip;

    bool operator==(const Filters&) const = default;
};

/// Address modes: one for all dimensions, or one for each.
struct AddressModes {
    constexpr AddressModes(AddressMode all)  // NOLINT(google-explicit-constructor)
        : x(all), y(all), z(all) {}
    constexpr AddressModes(AddressMode along_x, AddressMode along_y, AddressMode along_z = AddressMode::clamp)
        : x(along_x), y(along_y), z(along_z) {}

    AddressMode x;
    AddressMode y;
    AddressMode z;

    bool operator==(const AddressModes&) const = default;
};

/// Which mips are sampled.
struct LodOptions {
    float min = 0;
    float max = 1000;
    float bias = 0;

    bool operator==(const LodOptions&) const = default;
};

struct SamplerOptions {
    Filters filter = Filter::linear;
    AddressModes address = AddressMode::clamp;
    Compare compare = Compare::none;  ///< none: it isn't a comparison sampler
    float anisotropy = 1;             ///< 1: none; at most 16
    LodOptions lod = {};
    Border border = Border::transparent_black;  ///< of AddressMode::border

    bool operator==(const SamplerOptions&) const = default;
};

namespace detail {
class SamplerState;
}  // namespace detail

/// A handle: copies are the same sampler. It belongs to no device, and each device makes its own once a call
/// there needs it. Thread-safe. `kf::Sampler({.filter = kf::Filter::nearest})`.
class Sampler {
public:
    /// Makes a null sampler, as a default-made texture is null.
    Sampler() = default;
    /// Throws ArgumentError (value_range) for numbers that no sampler has.
    explicit Sampler(const SamplerOptions& options);
    /// Makes the sampler on that device at once: also throws DeviceError (missing_feature) where the device
    /// has none such.
    Sampler(const Device& device, const SamplerOptions& options);

    explicit operator bool() const { return state_ != nullptr; }
    [[nodiscard]] const SamplerOptions& options() const;
    /// Returns whether it compares: what SamplerComparisonState takes.
    [[nodiscard]] bool is_comparison() const { return options().compare != Compare::none; }

    [[nodiscard]] const std::shared_ptr<detail::SamplerState>& state() const { return state_; }

private:
    std::shared_ptr<detail::SamplerState> state_;
};

}  // namespace kf
