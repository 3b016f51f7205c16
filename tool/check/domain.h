// Looks for numbers with which a function's results are finite. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace kf::check {

/// Where numbers are drawn from: the lowest one and the highest one.
using Interval = std::pair<double, double>;

/// A function of several inputs, each of which is one or more numbers.
struct DomainQuestion {
    std::vector<std::size_t> counts;  ///< of each input's numbers
    std::size_t outputs = 0;
    /// Returns how many of the outputs are finite with these numbers of each input.
    std::function<std::size_t(const std::vector<std::vector<double>>& values)> finite;
};

/// How often a search calls the function at most.
inline constexpr std::size_t most_evaluations = 256;

/// Returns the ranges of the first numbers with which all outputs are finite, which are the last ones that
/// the function was called with. Begins with those of `start`; nothing if the search is in vain.
std::optional<std::vector<Interval>> search_domain(const DomainQuestion& question,
                                                   const std::vector<Interval>& start,
                                                   std::mt19937_64& random);

}  // namespace kf::check
