// The factor between gradients and differences, by least squares.
#include "check/trend.h"

#include <algorithm>
#include <cmath>

#include "check/comparison.h"

namespace kf::check {
namespace {

/// The error that all gradients may share, as a part of one's tolerance: a rounded constant makes one.
constexpr double shared_tolerance = 1.0 / 8;
/// Differences that are less certain say as much about rounding as about slopes.
constexpr double least_certain = 0.3;

}  // namespace

void Trend::add(double gradient, const Difference& difference, double scale) {
    const double slope = difference.slope;
    // Where nothing moves there is no factor.
    if (!(difference.size > 0)) return;
    if (!(difference.uncertainty <= least_certain * difference.size)) return;
    const double own = precision_.tolerance * std::max(difference.size, scale / 16);
    const double weight = 1 / (difference.uncertainty * difference.uncertainty + own * own);
    products_ += weight * (gradient - slope) * slope;
    squares_ += weight * slope * slope;
    const double bias = std::max(0.0, difference.uncertainty - difference.rounding);
    systematic_ += weight * std::abs(slope) * bias;
    random_ += weight * weight * slope * slope * (difference.rounding * difference.rounding + own * own);
}

double Trend::excess() const { return squares_ > 0 ? products_ / squares_ : 0; }

double Trend::uncertainty() const {
    if (squares_ <= 0) return 1;
    return (systematic_ + std::sqrt(random_)) / squares_ + shared_tolerance * precision_.tolerance;
}

bool Trend::is_off() const { return std::abs(excess()) > uncertainty(); }

void settle(InputReport& input, const Trend& trend, const std::string& how) {
    if (input.wrong > 0 || !trend.is_off()) return;
    const Difference ones{1, trend.uncertainty(), 0, 1};
    note(input, Verdict::wrong, 1 + trend.excess(), ones, 1,
         {"all together, as parts of the differences", how});
}

}  // namespace kf::check
