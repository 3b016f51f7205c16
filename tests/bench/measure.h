// Medians, host clocks and numbers to calculate with.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bench_support {

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Seconds that `work` takes.
template <class Work>
double seconds(Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Repeats `work` for half a second: a GPU that has idled raises its clocks only after some work.
template <class Work>
void warm_up(Work&& work) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    do {
        work();
    } while (std::chrono::steady_clock::now() < end);
}

/// Numbers in [0, 1), the same every time.
inline std::vector<float> uniform(std::int64_t count, std::uint32_t seed) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::uint32_t state = seed;
    for (float& value : values) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(state >> 8) * 0x1p-24F;
    }
    return values;
}

/// Elements of the table that calls look up at random.
constexpr std::int32_t table_size = 65536;

/// Numbers in [0, end), the same every time.
inline std::vector<std::int32_t> indices(std::int64_t count, std::int32_t end, std::uint32_t seed) {
    std::vector<std::int32_t> values;
    values.reserve(static_cast<std::size_t>(count));
    for (const float value : uniform(count, seed)) {
        values.push_back(static_cast<std::int32_t>(value * static_cast<float>(end)));
    }
    return values;
}

/// What the backward pass must give for polynomial(2, 8, -1, x) with `flow`, in float64.
struct Expected {
    double a = 0;
    double b = 0;
    double c = 0;

    Expected(const std::vector<float>& x, const std::vector<float>& flow) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double v = x[i];
            a += v * v * flow[i];
            b += v * flow[i];
            c += flow[i];
        }
    }
};

/// The largest error of y = 2x² + 8x - 1, relative to the largest |y| of the inputs' range.
inline double forward_error(const std::vector<float>& x, const std::vector<float>& y) {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = x[i];
        const double error = std::abs(y[i] - (2 * v * v + 8 * v - 1)) / 9;
        largest = std::isnan(error) ? HUGE_VAL : std::max(largest, error);
    }
    return largest;
}

/// The largest relative error of `gradient` where it must be flow · (4x + 8).
inline double gradient_error(const std::vector<float>& x, const std::vector<float>& flow,
                             const std::vector<float>& gradient) {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double wanted = double{flow[i]} * (4.0 * x[i] + 8);
        const double error = std::abs(gradient[i] - wanted) / std::max(std::abs(wanted), 1e-6);
        largest = std::isnan(error) ? HUGE_VAL : std::max(largest, error);
    }
    return largest;
}

inline double relative(double found, double wanted) { return std::abs(found - wanted) / std::abs(wanted); }

}  // namespace bench_support
