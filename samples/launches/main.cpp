// Kernels that say themselves what their threads do: groupshared memory, barriers, buffers and pointers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

#include "launches.h"

namespace {

void say(const char* what, bool right) { std::cout << what << ": " << (right ? "yes" : "no") << '\n'; }

/// A product of matrices, by tiles of 8 × 8.
void multiply(const kf::Device& device, const launches::Module& module) {
    constexpr std::uint32_t rows = 45;
    constexpr std::uint32_t inner = 67;
    constexpr std::uint32_t columns = 30;
    std::minstd_rand random;
    std::uniform_real_distribution<float> uniform(-1, 1);
    const auto draw = [&] { return uniform(random); };
    std::vector<float> a(std::size_t{rows} * inner);
    std::vector<float> b(std::size_t{inner} * columns);
    std::generate(a.begin(), a.end(), draw);
    std::generate(b.begin(), b.end(), draw);

    launches::Globals globals;
    globals.sizes = launches::Sizes{rows, inner, columns};
    const auto product = device.zeros<float>({rows, columns});
    module.tiled_product.set(globals).threads(columns, rows)(kf::Buffer<float>(device, a),
                                                             kf::Buffer<float>(device, b), product);

    const std::vector<float> found = product.to_vector();
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < inner; ++k)
            sum += double{a[i / columns * inner + k]} * b[k * columns + i % columns];
        worst = std::max(worst, std::abs(found[i] - sum));
    }
    say("product as by plain code", worst < 1e-5);
}

/// Running sums of 10,000 numbers: of groups of 128, then of the 79 groups' totals.
void add_up(const kf::Device& device, const launches::Module& module) {
    constexpr std::int64_t count = 10000;
    constexpr std::uint32_t groups = (count + 127) / 128;
    std::minstd_rand random;
    std::uniform_int_distribution<int> uniform(-100, 99);
    std::vector<int> values(count);
    std::generate(values.begin(), values.end(), [&] { return uniform(random); });

    const kf::RWBuffer<int> sums = device.empty<int>({count});
    const kf::RWBuffer<int> totals = device.empty<int>({groups});
    const kf::RWBuffer<int> total_sums = device.empty<int>({groups});
    const kf::RWBuffer<int> unused = device.empty<int>({1});
    module.scan_groups.groups(groups)(kf::Buffer<int>(device, values), sums, totals);
    module.scan_groups.groups(1)(totals, total_sums, unused);
    module.add_totals.groups(groups)(total_sums, sums);

    std::vector<int> expected(count);
    std::partial_sum(values.begin(), values.end(), expected.begin());
    say("running sums as by plain code", sums.to_vector() == expected);
}

/// The polynomial of degree 3 that is nearest to the points: Gauss's normal equations.
std::array<double, 4> least_squares(const std::vector<kf::float2>& points) {
    std::array<std::array<double, 5>, 4> rows{};
    for (const kf::float2& point : points)
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < 4; ++k) rows[i][k] += std::pow(point.x, i + k);
            rows[i][4] += std::pow(point.x, i) * point.y;
        }
    for (std::size_t pivot = 0; pivot < 4; ++pivot)
        for (std::size_t i = 0; i < 4; ++i) {
            if (i == pivot) continue;
            const double factor = rows[i][pivot] / rows[pivot][pivot];
            for (std::size_t k = 0; k < 5; ++k) rows[i][k] -= factor * rows[pivot][k];
        }
    std::array<double, 4> result{};
    for (std::size_t i = 0; i < 4; ++i) result[i] = rows[i][4] / rows[i][i];
    return result;
}

/// A polynomial of degree 3 through points, by pointers.
void fit(const kf::Device& device, const launches::Module& module) {
    constexpr std::uint32_t count = 1000;
    std::vector<kf::float2> points;
    for (std::uint32_t i = 0; i < count; ++i) {
        const float x = 2 * static_cast<float>(i) / (count - 1) - 1;
        points.push_back({x, std::sin(2.5F * x) + 0.2F});
    }
    const auto given = device.tensor<kf::float2>(points, {count});
    const auto coefficients = device.zeros<float>({4});
    const auto gradient = device.zeros<float>({4});
    const auto velocity = device.zeros<float>({4});
    for (int step = 0; step < 300; ++step) {
        module.add_gradient.threads(count)(given, count, coefficients, gradient);
        module.update.threads(4)(coefficients, gradient, velocity, 0.1F, 0.9F);
    }

    const std::vector<float> found = coefficients.to_vector();
    const std::array<double, 4> best = least_squares(points);
    say("fit as by least squares", std::equal(found.begin(), found.end(), best.begin(),
                                              [](double a, double b) { return std::abs(a - b) < 1e-3; }));
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const launches::Module module(device);
    multiply(device, module);
    add_up(device, module);
    fit(device, module);
}
