// Looks for the first call that makes a NaN or an infinity out of numbers that are finite.
#include "core/nan_watch.h"

#include <kf/error.h>
#include <kf/half.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace kf::detail {
namespace {

/// Visits the scalars in row-major order until `visit` returns true, of a scalar's place in scalars; returns
/// its index then.
template <class Visit>
std::optional<Dims> find_scalar(const Dims& extents, const Dims& strides, Visit visit) {
    if (std::ranges::find(extents, 0) != extents.end()) return std::nullopt;
    Dims index(extents.size(), 0);
    for (std::int64_t at = 0;;) {
        if (visit(at)) return index;
        std::size_t d = extents.size();
        for (; d > 0; --d) {
            at += strides[d - 1];
            if (++index[d - 1] < extents[d - 1]) break;
            at -= extents[d - 1] * strides[d - 1];
            index[d - 1] = 0;
        }
        if (d == 0) return std::nullopt;
    }
}

/// `exponent`: the bits that are all set in what isn't finite.
template <class Bits, class Float>
std::optional<NotFinite> find_bits(const std::byte* first, const Dims& extents, const Dims& strides,
                                   const std::byte* before, Bits exponent) {
    const auto bits_at = [](const std::byte* from, std::int64_t at) {
        Bits bits;
        std::memcpy(&bits, from + at * static_cast<std::int64_t>(sizeof bits), sizeof bits);
        return bits;
    };
    std::int64_t place = 0;
    const std::optional<Dims> index = find_scalar(extents, strides, [&](std::int64_t at) {
        const Bits bits = bits_at(first, at);
        place = at;
        return (bits & exponent) == exponent && (before == nullptr || bits_at(before, at) != bits);
    });
    if (!index) return std::nullopt;
    return NotFinite{*index, static_cast<double>(std::bit_cast<Float>(bits_at(first, place)))};
}

/// What lies at stride 0 is there once.
Dims distinct(const Dims& extents, const Dims& strides) {
    Dims result = extents;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        if (strides[d] == 0 && extents[d] > 1) result[d] = 1;
    }
    return result;
}

}  // namespace

std::optional<NotFinite> find_not_finite(ScalarType scalar, const std::byte* first, const Dims& extents,
                                         const Dims& strides, const std::byte* before) {
    const Dims seen = distinct(extents, strides);
    switch (scalar) {
        case ScalarType::float16:
            return find_bits<std::uint16_t, half>(first, seen, strides, before, 0x7C00U);
        case ScalarType::float32:
            return find_bits<std::uint32_t, float>(first, seen, strides, before, 0x7F80'0000U);
        case ScalarType::float64:
            return find_bits<std::uint64_t, double>(first, seen, strides, before, 0x7FF0'0000'0000'0000U);
        default: return std::nullopt;
    }
}

NanWatch::NanWatch(driver::Device& driver, const ObservedCall& call, std::uint64_t number)
    : driver_(driver), call_(call), number_(number), before_(call.views().size()) {
    for (std::size_t i = 0; i < call.views().size() && was_finite_; ++i) {
        const ObservedView& view = call.views()[i];
        if (view.is_read) was_finite_ = !find(view, i);
    }
    for (std::size_t i = 0; i < call.views().size() && was_finite_; ++i) {
        const ObservedView& view = call.views()[i];
        if (!view.is_written || !view.keeps_rest || !is_floating(view.scalar)) continue;
        if (!view.texture) {
            before_[i].push_back(read(view));
            continue;
        }
        for (std::int64_t mip = 0; mip < view.texture.shape().mips; ++mip) {
            Copy& copy = before_[i].emplace_back();
            copy.bytes.resize(view.texture.mip(mip).size_bytes());
            view.texture.mip(mip).read(copy.bytes);
        }
    }
}

NanWatch::Copy NanWatch::read(const ObservedView& view) const {
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (std::size_t d = 0; d < view.scalars.extents.size(); ++d) {
        if (view.scalars.extents[d] == 0) return {};
        const std::int64_t reach = (view.scalars.extents[d] - 1) * view.scalars.strides[d];
        (reach < 0 ? low : high) += reach;
    }
    const std::size_t scalar = size_of(view.scalar);
    Copy copy;
    copy.first = static_cast<std::size_t>(-low) * scalar;
    copy.bytes.resize(static_cast<std::size_t>(high - low + 1) * scalar);
    const std::uint64_t begin = view.scalars.address - copy.first;
    if (view.allocation != nullptr) {
        driver_.read_back(view.allocation, begin - view.allocation->address, copy.bytes);
    } else {
        std::memcpy(copy.bytes.data(), reinterpret_cast<const void*>(begin), copy.bytes.size());
    }
    return copy;
}

std::optional<NotFinite> NanWatch::find(const ObservedView& view, std::size_t index) const {
    if (!is_floating(view.scalar)) return std::nullopt;
    if (view.texture) return find_in_texture(view, index);
    const Copy now = read(view);
    const bool has_before = index < before_.size() && !before_[index].empty();
    if (now.bytes.empty()) return std::nullopt;
    return find_not_finite(view.scalar, now.data(), view.scalars.extents, view.scalars.strides,
                           has_before ? before_[index].front().data() : nullptr);
}

std::optional<NotFinite> NanWatch::find_in_texture(const ObservedView& view, std::size_t index) const {
    const TextureShape& shape = view.texture.shape();
    const bool has_before = index < before_.size() && !before_[index].empty();
    for (std::int64_t mip = 0; mip < shape.mips; ++mip) {
        const AnyTexture level = view.texture.mip(mip);
        std::vector<std::byte> texels(level.size_bytes());
        level.read(texels);
        Dims extents;
        if (shape.layers > 1 || shape.is_array) extents.push_back(shape.layers);
        for (const std::int64_t extent : level.shape().extents) extents.push_back(extent);
        if (const auto components = info_of(shape.format).components; components > 1) {
            extents.push_back(static_cast<std::int64_t>(components));
        }
        Dims strides(extents.size(), 1);
        for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
        const std::byte* const before =
            has_before ? before_[index][static_cast<std::size_t>(mip)].bytes.data() : nullptr;
        const auto found = find_not_finite(view.scalar, texels.data(), extents, strides, before);
        if (found) return found;
    }
    return std::nullopt;
}

bool NanWatch::check() const {
    if (!was_finite_) return false;
    for (std::size_t i = 0; i < call_.views().size(); ++i) {
        const ObservedView& view = call_.views()[i];
        if (!view.is_written) continue;
        if (const auto found = find(view, i)) throw Error(ErrorCode::not_finite, text_of(view, *found));
    }
    return true;
}

std::string NanWatch::text_of(const ObservedView& view, const NotFinite& found) const {
    const char* value = std::isnan(found.value) ? "nan" : found.value < 0 ? "-inf" : "inf";
    return "KF_CHECK=nan: " + call_.function_name() + ", " + call_.pass_name() + " pass, call " +
           std::to_string(number_) + ": " + call_.name_of(view) + " has " + value +
           (found.index.empty() ? "" : " at " + to_string(found.index)) +
           "; all that the call was given is finite";
}

}  // namespace kf::detail
