// The settings of `kfgen check --gradients`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kf::check {

/// The shape of a tensor that a function takes: where the extents can't be found by trying.
struct GivenShape {
    std::string argument;  ///< "weights", "layer.weights" (of one function), "this.table"
    std::vector<std::int64_t> extents;

    bool operator==(const GivenShape&) const = default;
};

struct Settings {
    std::string device;      ///< as Device::open() takes it
    std::uint64_t seed = 1;  ///< the same seed, the same inputs
    std::optional<std::pair<double, double>>
        range;  ///< of floating inputs; empty: [-1.5, 1.5] and [0.1, 0.9]
    std::vector<GivenShape> shapes;
    std::vector<std::string> except;  ///< functions left out

    bool operator==(const Settings&) const = default;
};

}  // namespace kf::check
