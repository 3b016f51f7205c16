// The cases of gradients that calls share in other ways than the polynomial's, for every backend.
#pragma once

#include <kf/half.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench.h"

namespace bench_support {

/// What a case's calls read and write; calls go round several, so that caches don't hold them.
struct StrategySet {
    kf::Tensor<float, 2> x;
    kf::Tensor<float, 2> flow;
    kf::Tensor<float, 2> y;      ///< with the flow as its gradient
    kf::Tensor<float, 2> total;  ///< one number, what results are summed to
    kf::Tensor<kf::half, 1> half_x;
    kf::Tensor<kf::half, 1> half_flow;
    kf::Tensor<kf::half, 1> half_y;
    kf::Tensor<bench::Ray, 1> rays;
    kf::Tensor<float, 1> ray_flow;
    kf::Tensor<float, 1> ray_y;
};

/// The inputs that calls share, each with a gradient.
struct StrategyInputs {
    kf::Tensor<float, 2> per_row;
    kf::Tensor<float, 2> per_column;
    kf::Tensor<float, 2> per_call;
    kf::Tensor<kf::half, 1> a;
    kf::Tensor<kf::half, 1> b;
    kf::Tensor<kf::half, 1> c;
};

/// A square of about `count` numbers; of structs a sixth of that.
class Strategies {
public:
    Strategies(const kf::Device& device, std::int64_t count, std::size_t sets);

    [[nodiscard]] std::int64_t side() const { return side_; }
    [[nodiscard]] std::int64_t rays() const { return side_ * side_ / 8; }
    [[nodiscard]] const StrategyInputs& inputs() const { return inputs_; }
    [[nodiscard]] const std::vector<StrategySet>& sets() const { return sets_; }

    struct Case {
        std::string name;
        double bytes;  ///< that a call must read and write
        std::function<void(const StrategySet&)> call;
    };
    /// Ours, with the kernels of `module`.
    [[nodiscard]] std::vector<Case> cases(const bench::Module& module) const;

    /// Of the first set: what a case has added to gradients, or summed, which are zeros afterwards.
    [[nodiscard]] std::vector<double> take_gradients(const std::string& name) const;

    /// The largest errors against float64, relative to the sum of what is added up.
    [[nodiscard]] nlohmann::json errors(const bench::Module& module) const;

private:
    kf::Device device_;
    std::int64_t side_;
    StrategyInputs inputs_;
    std::vector<StrategySet> sets_;
};

/// What gradients of `count` ones come to, each divided by what they should be, less 1.
nlohmann::json sum_ones(const kf::Device& device, std::int64_t count);

}  // namespace bench_support
