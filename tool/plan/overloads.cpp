// Which of several overloads a combination of kinds means.
#include "plan/overloads.h"

#include <algorithm>

namespace kf::gen {

namespace {

bool beats(const Fit& fit, const Fit& other) {
    for (std::size_t i = 0; i < fit.distances.size(); ++i) {
        if (fit.distances[i] > other.distances[i]) return false;
    }
    if (fit.distances != other.distances) return true;
    const std::int64_t left_out = fit.candidate->left_out;
    const std::int64_t other_left_out = other.candidate->left_out;
    return left_out < other_left_out || (left_out == other_left_out && !fit.is_general && other.is_general);
}

}  // namespace

std::optional<std::size_t> best_fit(const std::vector<Fit>& fits) {
    for (std::size_t i = 0; i < fits.size(); ++i) {
        const bool best = std::all_of(fits.begin(), fits.end(), [&](const Fit& other) {
            return &other == &fits[i] || beats(fits[i], other);
        });
        if (best) return i;
    }
    return std::nullopt;
}

}  // namespace kf::gen
