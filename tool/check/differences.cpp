// Central differences at three steps h, h/2, h/4, extrapolated.
//
// For each output y separately, with D(h) = (y(x+h) - y(x-h)) / 2h and e the rounding error of one y (2 units
// of its last place, for y of its tensor's usual size, since terms may have cancelled out):
// - D(h) has an error of h² y'''/6 + ..., and up to e/h from rounding. R(h) = (4 D(h/2) - D(h)) / 3 has none
// of
//   order h² (Richardson), and up to 5/3 e/(h/2) from rounding. How far they lie apart says what the higher
//   orders do. The least uncertain of D(h), R(h) and R(h/2) is taken.
// - Where y bends or jumps within x ± h, the second difference J(h) = (y(x+h) - 2 y(x) + y(x-h)) / h does not
//   halve with h, as h y'' does. |J(h) - 2 J(h/2)| is of the size of the bend, and counts as uncertainty.
// Uncertainties and sizes of outputs add up, as errors at their worst would.
#include "check/differences.h"

#include <algorithm>
#include <cmath>

namespace kf::check {
namespace {

struct Estimate {
    double slope;
    double uncertainty;
    double rounding;
};

Estimate best_of(std::initializer_list<Estimate> estimates) {
    return *std::min_element(estimates.begin(), estimates.end(), [](const Estimate& a, const Estimate& b) {
        return a.uncertainty < b.uncertainty;
    });
}

/// How far second differences are from halving with the step, past what rounding explains.
double bend(const Stencil& stencil, std::size_t k, double error) {
    std::array<double, step_count> second{};
    std::array<double, step_count> noise{};
    for (std::size_t s = 0; s < step_count; ++s) {
        second[s] = (stencil.plus[s][k] - stencil.centre[k]) / stencil.forward[s] -
                    (stencil.centre[k] - stencil.minus[s][k]) / stencil.backward[s];
        noise[s] = 4 * error / std::min(stencil.forward[s], stencil.backward[s]);
    }
    double total = 0;
    for (std::size_t s = 0; s + 1 < step_count; ++s) {
        total += std::max(0.0, std::abs(second[s] - 2 * second[s + 1]) - noise[s] - 2 * noise[s + 1]);
    }
    return total;
}

Estimate derivative(const Stencil& stencil, std::size_t k, double error) {
    std::array<double, step_count> central{};
    std::array<double, step_count> rounding{};
    for (std::size_t s = 0; s < step_count; ++s) {
        const double width = stencil.forward[s] + stencil.backward[s];
        central[s] = (stencil.plus[s][k] - stencil.minus[s][k]) / width;
        rounding[s] = 2 * error / width;
    }
    const double first = (4 * central[1] - central[0]) / 3;
    const double second = (4 * central[2] - central[1]) / 3;
    const auto estimate = [](double slope, double other, double noise) {
        return Estimate{slope, other + noise, noise};
    };
    Estimate best = best_of({estimate(central[0], std::abs(central[0] - first), rounding[0]),
                             estimate(first, std::abs(first - second), rounding[1] * 5 / 3),
                             estimate(second, std::abs(first - second) / 4, rounding[2] * 5 / 3)});
    best.uncertainty += bend(stencil, k, error);
    return best;
}

bool changes(const Stencil& stencil, std::size_t k) {
    for (std::size_t s = 0; s < step_count; ++s) {
        if (stencil.plus[s][k] != stencil.centre[k] || stencil.minus[s][k] != stencil.centre[k]) return true;
    }
    return false;
}

}  // namespace

Precision precision_of(ScalarType scalar) {
    // The tolerance leaves room for what backward passes round on their way: 32 units of the last place in
    // half. float and double have room for approximations of sin, exp and the like too.
    switch (scalar) {
        case ScalarType::float16: return {0x1p-11, 0x1p-2, 0x1p-6, 0.08};
        case ScalarType::float32: return {0x1p-24, 0x1p-6, 0x1p-9, 0.02};
        default: return {0x1p-53, 0x1p-9, 0x1p-20, 0.0001};
    }
}

Difference differentiate(const Stencil& stencil, std::span<const double> weights,
                         std::span<const double> magnitudes, double epsilon) {
    Difference total;
    double unseen = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        const double error = 2 * epsilon * magnitudes[k];
        const double weight = std::abs(weights[k]);
        total.residue += 8 * epsilon * weight;
        if (!changes(stencil, k)) {
            unseen = std::max(unseen, weight * error / stencil.forward[0]);
            continue;
        }
        const Estimate estimate = derivative(stencil, k, error);
        total.slope += weights[k] * estimate.slope;
        total.uncertainty += weight * estimate.uncertainty;
        total.rounding += weight * estimate.rounding;
        total.size += weight * std::abs(estimate.slope);
    }
    // Where nothing moves at all, one output may have moved by less than it can show.
    if (total.size == 0) total.uncertainty = std::max(total.uncertainty, unseen);
    return total;
}

Verdict judge(double gradient, const Difference& difference, const Precision& precision, double scale) {
    if (!std::isfinite(difference.slope) || !std::isfinite(difference.uncertainty)) return Verdict::unsure;
    if (!std::isfinite(gradient)) {
        return difference.uncertainty <= precision.needed * std::max(difference.size, scale)
                   ? Verdict::wrong
                   : Verdict::unsure;
    }
    // No step changes anything, and there is no gradient, or what rounding leaves of x - x.
    const bool stays = difference.size == 0 && difference.rounding == 0;
    if (stays && std::abs(gradient) <= difference.residue) return Verdict::right;
    const double size = std::max(difference.size, std::abs(gradient));
    const double allowed = difference.uncertainty + precision.tolerance * std::max(size, scale / 16);
    if (std::abs(gradient - difference.slope) > allowed) {
        // Slopes that differ by as much as they are large are those of something that turns within a step.
        const bool turns = difference.uncertainty > 2 * difference.rounding + difference.size / 4;
        return !turns && difference.uncertainty <= precision.needed * size ? Verdict::wrong : Verdict::unsure;
    }
    return difference.uncertainty <= precision.needed * std::max(size, scale) ? Verdict::right
                                                                              : Verdict::unsure;
}

}  // namespace kf::check
