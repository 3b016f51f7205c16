// Derivatives from a function's values at a few places, and how far they can be trusted. Pure.
#pragma once

#include <kf/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kf::check {

/// How many step sizes there are, each half of the one before.
inline constexpr std::size_t step_count = 3;

/// Numbers that depend on the type that a call computes in: the least precise of its floating arguments.
struct Precision {
    double epsilon;    ///< the largest relative error of rounding once
    double step;       ///< the largest step, for values around 1; a power of 2
    double tolerance;  ///< of a gradient, relative to the sum of the sizes of its parts
    double needed;     ///< differences less certain than this, relative to the gradients, decide nothing
};

/// `scalar` must be floating.
Precision precision_of(ScalarType scalar);

/// A function's outputs at a point and on both sides of it.
struct Stencil {
    std::vector<double> centre;
    std::array<std::vector<double>, step_count> plus, minus;
    std::array<double, step_count> forward{}, backward{};  ///< how far away, as rounded; both positive
};

/// The derivative of sum(weight * output) along the stencil.
struct Difference {
    double slope = 0;
    double uncertainty = 0;  ///< what rounding, higher derivatives and bends may have done to it
    double rounding = 0;     ///< the part of it that rounding alone explains
    double size = 0;         ///< sum(|weight * derivative of output|)
    double residue = 0;      ///< what may be left of parts that cancel; they are taken to be like the weights
};

/// `magnitudes`: of each output, what its rounding errors are relative to.
Difference differentiate(const Stencil& stencil, std::span<const double> weights,
                         std::span<const double> magnitudes, double epsilon);

enum class Verdict : std::uint8_t { right, wrong, unsure };

/// Compares a gradient with differences; `scale` is the largest one among the gradient's neighbours.
Verdict judge(double gradient, const Difference& difference, const Precision& precision, double scale);

}  // namespace kf::check
