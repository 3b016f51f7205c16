// The cases of gradients that calls share in other ways than the polynomial's.
#include "strategies.h"

#include <cmath>
#include <span>

#include "measure.h"

namespace bench_support {

namespace {

std::vector<kf::half> halves(const std::vector<float>& values) {
    std::vector<kf::half> result;
    result.reserve(values.size());
    for (const float value : values) result.emplace_back(value);
    return result;
}

kf::Tensor<float, 2> matrix(const kf::Device& device, std::int64_t rows, std::int64_t columns,
                            const std::vector<float>& values) {
    return device.tensor(std::span<const float>(values), {rows, columns});
}

double worst(const std::vector<float>& found, const std::vector<double>& wanted,
             const std::vector<double>& terms) {
    double largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double error = std::abs(found[i] - wanted[i]) / terms[i];
        largest = std::isnan(error) ? HUGE_VAL : std::max(largest, error);
    }
    return largest;
}

template <class Tensor>
void take(std::vector<double>& values, const Tensor& tensor) {
    auto elements = tensor.to_vector();
    for (auto& element : elements) {
        if constexpr (std::is_same_v<std::decay_t<decltype(element)>, bench::Ray>) {
            for (const kf::float3& part : {element.origin, element.direction}) {
                values.insert(values.end(), {part[0], part[1], part[2]});
            }
        } else {
            values.push_back(static_cast<float>(element));
        }
        element = {};
    }
    tensor.copy_from(elements);
}

}  // namespace

Strategies::Strategies(const kf::Device& device, std::int64_t count, std::size_t sets)
    : device_(device), side_(static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(count))))) {
    const std::int64_t total = side_ * side_;
    const std::vector<float> xs = uniform(total, 1);
    const std::vector<float> flows = uniform(total, 2);
    const auto few = [&](std::uint32_t seed) { return uniform(side_, seed); };
    inputs_.per_row = matrix(device, side_, 1, few(3)).with_grads();
    inputs_.per_column = matrix(device, 1, side_, few(4)).with_grads();
    inputs_.per_call = matrix(device, side_, side_, uniform(total, 5)).with_grads();
    inputs_.a = device.tensor(halves({2})).with_grads();
    inputs_.b = device.tensor(halves({8})).with_grads();
    inputs_.c = device.tensor(halves({-1})).with_grads();
    for (std::size_t i = 0; i < sets; ++i) {
        StrategySet& set = sets_.emplace_back();
        set.x = matrix(device, side_, side_, xs).with_grads();
        set.flow = matrix(device, side_, side_, flows);
        set.y = device.empty<float>({side_, side_}).with_grads(set.flow, {});
        set.total = device.zeros<float, 2>({1, 1});
        set.half_x = device.tensor(halves(xs)).with_grads();
        set.half_flow = device.tensor(halves(flows));
        set.half_y = device.empty<kf::half>({total}).with_grads(set.half_flow, {});
        set.rays = device.zeros<bench::Ray>({rays()}).with_grads();
        set.ray_flow = device.tensor(std::vector<float>(flows.begin(), flows.begin() + rays()));
        set.ray_y = device.empty<float>({rays()}).with_grads(set.ray_flow, {});
    }
    device.wait();
}

std::vector<Strategies::Case> Strategies::cases(const bench::Module& module) const {
    const auto total = static_cast<double>(side_ * side_);
    const StrategyInputs& in = inputs_;
    return {
        {"rows", 16 * total,
         [&module, &in](const StrategySet& set) { module.scaled.backward(set.x, in.per_row, set.y); }},
        {"columns", 16 * total,
         [&module, &in](const StrategySet& set) { module.scaled.backward(set.x, in.per_column, set.y); }},
        {"injective", 28 * total,
         [&module, &in](const StrategySet& set) { module.scaled.backward(set.x, in.per_call, set.y); }},
        {"half", 8 * total,
         [&module, &in](const StrategySet& set) {
             module.polynomial_of_halves.backward(in.a, in.b, in.c, set.half_x, set.half_y);
         }},
        {"structs", 52 * static_cast<double>(rays()),
         [&module](const StrategySet& set) { module.along.backward(set.rays, 0.5F, set.ray_y); }},
        {"sums", 4 * total, [&module](const StrategySet& set) { module.squared(set.x, kf::out(set.total)); }},
    };
}

std::vector<double> Strategies::take_gradients(const std::string& name) const {
    std::vector<double> values;
    const StrategySet& set = sets_.front();
    if (name == "structs") {
        take(values, set.rays.grad());
    } else if (name == "sums") {
        take(values, set.total);
    } else if (name == "half") {
        for (const auto* tensor : {&inputs_.a, &inputs_.b, &inputs_.c, &set.half_x})
            take(values, tensor->grad());
    } else {
        const auto& w = name == "rows"      ? inputs_.per_row
                        : name == "columns" ? inputs_.per_column
                                            : inputs_.per_call;
        take(values, w.grad());
        take(values, set.x.grad());
    }
    return values;
}

nlohmann::json Strategies::errors(const bench::Module& module) const {
    const auto n = static_cast<std::size_t>(side_);
    const StrategySet& set = sets_.front();
    const std::vector<float> xs = set.x.to_vector();
    const std::vector<float> flows = set.flow.to_vector();
    std::vector<double> rows(n);
    std::vector<double> columns(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const double part = double{xs[i * n + j]} * flows[i * n + j];
            rows[i] += part;
            columns[j] += part;
        }
    }
    double squares = 0;
    for (const float x : xs) squares += double{x} * x;
    const auto per_row = matrix(device_, side_, 1, std::vector<float>(n, 1)).with_grads();
    const auto per_column = matrix(device_, 1, side_, std::vector<float>(n, 1)).with_grads();
    nlohmann::json result;
    for (const bool deterministic : {false, true}) {
        const std::string prefix = deterministic ? "deterministic." : "";
        per_row.grad().copy_from(std::vector<float>(n));
        per_column.grad().copy_from(std::vector<float>(n));
        const auto scaled = module.scaled.options({.deterministic = deterministic});
        const auto x = set.x.with_grads();
        scaled.backward(x, per_row, set.y);
        scaled.backward(x, per_column, set.y);
        const auto total = module.squared.options({.deterministic = deterministic})(set.x);
        result[prefix + "sums"] = worst(total.to_vector(), {squares}, {squares});
        result[prefix + "rows"] = worst(per_row.grad().to_vector(), rows, rows);
        result[prefix + "columns"] = worst(per_column.grad().to_vector(), columns, columns);
    }
    return result;
}

nlohmann::json sum_ones(const kf::Device& device, std::int64_t count) {
    const bench::Module module(device);
    const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(count))));
    const auto total = static_cast<double>(side * side);
    const std::vector<float> ones(static_cast<std::size_t>(side * side), 1);
    const auto x = device.tensor(ones);
    const auto x2 = matrix(device, side, side, ones);
    nlohmann::json result;
    {
        const auto c = device.tensor<float>({0}).with_grads();
        const auto zero = device.tensor<float>({0});
        module.polynomial.backward(zero, zero, c, x, kf::Tensor<float, 1>());
        result["broadcast"] = c.grad().to_vector()[0] / total - 1;
    }
    for (const bool deterministic : {false, true}) {
        const std::string prefix = deterministic ? "deterministic." : "";
        const auto weights = device.tensor<float>({1}).with_grads();
        module.weighted.options({.deterministic = deterministic})
            .backward(weights, x, kf::Tensor<float, 1>());
        result[prefix + "gather"] = weights.grad().to_vector()[0] / total - 1;
        const auto scaled = module.scaled.options({.deterministic = deterministic});
        for (const bool by_row : {true, false}) {
            const kf::Tensor<float, 2> w = matrix(device, by_row ? side : 1, by_row ? 1 : side,
                                                  std::vector<float>(static_cast<std::size_t>(side), 1));
            const auto tracked = w.with_grads();
            scaled.backward(x2, tracked, kf::Tensor<float, 2>());
            double largest = 0;
            for (const float sum : tracked.grad().to_vector()) {
                largest = std::max(largest, std::abs(sum / static_cast<double>(side) - 1));
            }
            result[prefix + (by_row ? "rows" : "columns")] = largest;
        }
    }
    return result;
}

}  // namespace bench_support
