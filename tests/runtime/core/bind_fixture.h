// Short ways to ask the binder, for its tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory_resource>

#include <kf/error.h>

#include "core/bind.h"
#include "core/convert.h"
#include "runtime/core/manifests.h"

namespace kf::test {

using detail::ArgumentView;
using detail::PassKind;

/// Addresses of memory that nothing reads.
constexpr std::uint64_t A = 0x1000;
constexpr std::uint64_t B = 0x10000;
constexpr std::uint64_t C = 0x20000;
constexpr std::uint64_t D = 0x30000;

/// A row-major view at `address`; `strides` where they are given.
inline detail::ScalarView at(std::uint64_t address, Dims extents, Dims strides = {}) {
    detail::ScalarView view{true, address, extents, strides};
    if (strides.empty()) {
        view.strides = Dims(extents.size(), 1);
        for (std::size_t i = extents.size(); i-- > 1;) {
            view.strides[i - 1] = view.strides[i] * extents[i];
        }
    }
    return view;
}

struct Given : ArgumentView {
    /// A tensor; float unless said otherwise.
    static Given tensor(detail::ScalarView data, ScalarType scalar = ScalarType::float32) {
        Given given;
        given.kind = detail::Arg::Kind::tensor;
        given.scalar = scalar;
        given.data = data;
        return given;
    }
    static Given value() {
        Given given;
        given.kind = detail::Arg::Kind::value;
        return given;
    }
    static Given diff() {
        Given given = value();
        given.value_gradient = true;
        return given;
    }
    static Given none() { return {}; }
    Given out(detail::ScalarView gradient) const {
        Given given = *this;
        given.grad_out = gradient;
        return given;
    }
    Given in(detail::ScalarView gradient) const {
        Given given = *this;
        given.grad_in = gradient;
        return given;
    }
};

/// Binds the first call of the first function.
inline detail::Binding bind(const Manifest& manifest, PassKind pass, const std::vector<Given>& given,
                            const Dims* shape = nullptr, detail::DeviceLimits limits = {2, 65535},
                            const Options& options = {}) {
    detail::Binding binding(std::pmr::get_default_resource());
    const std::vector<ArgumentView> views(given.begin(), given.end());
    const Function& function = manifest.functions.front();
    detail::bind({manifest, function, function.calls.front(), pass, views, shape, limits, options}, binding);
    return binding;
}

inline detail::Binding forward(const Manifest& manifest, const std::vector<Given>& given) {
    return bind(manifest, PassKind::forward, given);
}

inline detail::Binding backward(const Manifest& manifest, const std::vector<Given>& given) {
    return bind(manifest, PassKind::backward, given);
}

inline bool is_contiguous(const Manifest& manifest, const detail::Binding& binding) {
    return manifest.kernels.at(static_cast<std::size_t>(binding.kernel)).variant == Variant::contiguous;
}

/// Expects an ArgumentError of this code and text.
template <class Action>
void expect_error(ErrorCode code, const testing::Matcher<std::string>& text, Action action) {
    try {
        action();
        ADD_FAILURE() << "no error";
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error_id(error.code()), error_id(code)) << error.what();
        EXPECT_THAT(std::string(error.what()), text);
    }
}

}  // namespace kf::test
