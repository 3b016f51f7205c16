// Samplers: what their options may be, and what devices make of them.
#include <kf/device.h>
#include <kf/error.h>
#include <kf/sampler.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/sampler_state.h"

namespace kf {
namespace {

void check_number(const char* what, float number, float low, float high, const char* expected) {
    if (number >= low && number <= high) return;
    throw ArgumentError(ErrorCode::value_range, std::string("sampler: ") + what + " is " +
                                                    std::to_string(number) + "; expected " + expected);
}

template <class Enum>
void check_name(const char* what, Enum value, Enum last) {
    if (value <= last) return;
    throw ArgumentError(ErrorCode::value_range, std::string("sampler: ") + what + " " +
                                                    std::to_string(static_cast<int>(value)) +
                                                    " is none of its names");
}

void check_options(const SamplerOptions& options) {
    for (const Filter filter : {options.filter.minify, options.filter.magnify, options.filter.mip})
        check_name("filter", filter, Filter::linear);
    for (const AddressMode mode : {options.address.x, options.address.y, options.address.z})
        check_name("address", mode, AddressMode::border);
    check_name("compare", options.compare, Compare::always);
    check_name("border", options.border, Border::opaque_white);
    check_number("anisotropy", options.anisotropy, 1, 16, "1 (none) to 16");
    check_number("lod.min", options.lod.min, 0, 1000, "0 to 1000");
    check_number("lod.max", options.lod.max, options.lod.min, 1000, "lod.min to 1000");
    check_number("lod.bias", options.lod.bias, -16, 16, "-16 to 16");
    const bool is_linear =
        options.filter.minify == Filter::linear && options.filter.magnify == Filter::linear;
    if (options.anisotropy > 1 && !is_linear) {
        throw ArgumentError(ErrorCode::value_range,
                            "sampler: anisotropy needs linear filters; filter has a nearest one");
    }
}

std::array<float, 4> colour_of(Border border) {
    switch (border) {
        case Border::transparent_black: break;
        case Border::opaque_black: return {0, 0, 0, 1};
        case Border::opaque_white: return {1, 1, 1, 1};
    }
    return {};
}

driver::SamplerDescription description_of(const SamplerOptions& options) {
    driver::SamplerDescription made;
    made.minify = options.filter.minify;
    made.magnify = options.filter.magnify;
    made.mip = options.filter.mip;
    made.address = {options.address.x, options.address.y, options.address.z};
    made.compare = options.compare;
    made.anisotropy = options.anisotropy;
    made.lod_bias = options.lod.bias;
    made.lod_min = options.lod.min;
    made.lod_max = options.lod.max;
    made.border = colour_of(options.border);
    return made;
}

detail::SamplerState& checked_state(const Sampler& sampler) {
    if (!sampler) throw ArgumentError(ErrorCode::missing_argument, "the sampler is null");
    return *sampler.state();
}

}  // namespace

namespace detail {

SamplerState::SamplerState(const SamplerOptions& options)
    : options_(options), description_(description_of(options)) {}

std::shared_ptr<driver::Sampler> SamplerState::on(DeviceState& device) {
    (void)device.driver();  // before a lock that another process may hold
    const std::uint64_t id = device.id();
    const std::lock_guard lock(mutex_);
    for (const Made& made : made_) {
        if (made.device != id) continue;
        if (std::shared_ptr<driver::Sampler> sampler = made.sampler.lock()) return sampler;
    }
    std::shared_ptr<driver::Sampler> sampler = device.sampler(description_);
    std::erase_if(made_, [](const Made& made) { return made.sampler.expired(); });
    made_.push_back({id, sampler});
    return sampler;
}

std::shared_ptr<driver::Sampler> sampler_on(const Sampler& sampler, DeviceState& device) {
    return checked_state(sampler).on(device);
}

}  // namespace detail

Sampler::Sampler(const SamplerOptions& options) {
    check_options(options);
    state_ = std::make_shared<detail::SamplerState>(options);
}

Sampler::Sampler(const Device& device, const SamplerOptions& options) : Sampler(options) {
    if (!device) throw ArgumentError(ErrorCode::missing_argument, "sampler: the device is null");
    (void)state_->on(*device.state());
}

const SamplerOptions& Sampler::options() const { return checked_state(*this).options(); }

}  // namespace kf
