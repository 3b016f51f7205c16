// Fits a Bézier curve and a triangle with soft edges, by kernels as slang-torch's users write them.
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "tensor_views.h"

namespace {

constexpr int samples = 100;
constexpr int side = 32;
constexpr int steps = 200;
constexpr float softness = 0.1F;
const tensor_views::Camera camera{{0, 0}, {1, 1}};

/// A matrix of two columns, or a picture, by plain code.
using Numbers = std::vector<double>;
using Plain = std::function<Numbers(const Numbers&)>;
using Kernel = std::function<void(const kf::Tensor<float, 2>&, const kf::Tensor<float, 2>&)>;

void say(const std::string& what, bool right) { std::cout << what << ": " << (right ? "yes" : "no") << '\n'; }

std::vector<float> to_floats(const Numbers& values) { return {values.begin(), values.end()}; }

bool near(const std::vector<float>& found, const Numbers& expected, double tolerance) {
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (!(std::abs(found[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])))) return false;
    return found.size() == expected.size();
}

/// The sum of a function's values, weighted by `flow`, is differentiated by central differences.
Numbers gradient(const Plain& plain, const Numbers& x, const Numbers& flow) {
    Numbers result;
    for (std::size_t i = 0; i < x.size(); ++i) {
        Numbers lower = x;
        Numbers upper = x;
        lower[i] -= 1e-5;
        upper[i] += 1e-5;
        const Numbers below = plain(lower);
        const Numbers above = plain(upper);
        double sum = 0;
        for (std::size_t k = 0; k < flow.size(); ++k) sum += flow[k] * (above[k] - below[k]);
        result.push_back(sum / 2e-5);
    }
    return result;
}

double error(const Numbers& found, const Numbers& wanted) {
    double sum = 0;
    for (std::size_t i = 0; i < found.size(); ++i) sum += (found[i] - wanted[i]) * (found[i] - wanted[i]);
    return sum;
}

struct Subject {
    std::string name;
    Kernel forward, backward;
    Plain plain;
    Numbers start, goal;
    kf::Shape<2> shape;
    float rate;
};

/// Gradient descent from `start` to what draws `wanted`. Nothing of it waits for the GPU.
Numbers fit(const kf::Device& device, const tensor_views::Module& module, const Subject& subject,
            const Numbers& wanted) {
    const auto rows = static_cast<std::uint32_t>(subject.shape[0]);
    const auto columns = static_cast<std::uint32_t>(subject.shape[1]);
    const auto points = static_cast<std::uint32_t>(subject.start.size() / 2);
    const auto x = device.tensor<float>(to_floats(subject.start), {points, 2}).with_grads();
    const auto y = device.zeros<float>(subject.shape).with_grads(device.zeros<float>(subject.shape), {});
    const auto target = device.tensor<float>(to_floats(wanted), subject.shape);
    for (int step = 0; step < steps; ++step) {
        subject.forward(x, y);
        module.compare.threads(columns, rows)(y, target, y.grad_in());
        subject.backward(x, y);
        module.descend.threads(2, points)(x, x.grad(), subject.rate);
    }
    const std::vector<float> fitted = x.to_vector();
    return {fitted.begin(), fitted.end()};
}

void report(const kf::Device& device, const tensor_views::Module& module, const Subject& subject) {
    const Numbers wanted = subject.plain(subject.goal);
    const Numbers expected = subject.plain(subject.start);
    Numbers flow;
    for (std::size_t i = 0; i < wanted.size(); ++i) flow.push_back(std::cos(static_cast<double>(i)));
    const auto points = static_cast<std::int64_t>(subject.start.size() / 2);
    const auto given = device.tensor<float>(to_floats(subject.start), {points, 2}).with_grads();
    const auto drawn = device.zeros<float>(subject.shape)
                           .with_grads(device.tensor<float>(to_floats(flow), subject.shape), {});
    subject.forward(given, drawn);
    subject.backward(given, drawn);
    say(subject.name + " as by plain code", near(drawn.to_vector(), expected, 1e-5));
    say("  its gradient too",
        near(given.grad().to_vector(), gradient(subject.plain, subject.start, flow), 1e-3));

    const Numbers fitted = fit(device, module, subject, wanted);
    say("  fitted, with less than a hundredth of the error",
        error(subject.plain(fitted), wanted) < error(expected, wanted) / 100);
}

float place_of(int sample) { return static_cast<float>(sample) / (samples - 1); }

/// A curve of degree 4.
Numbers curve(const Numbers& controls) {
    constexpr std::array<double, 5> ways{1, 4, 6, 4, 1};
    Numbers result;
    for (int i = 0; i < samples; ++i)
        for (std::size_t d = 0; d < 2; ++d) {
            double sum = 0;
            for (std::size_t k = 0; k < ways.size(); ++k) {
                const double t = place_of(i);
                sum += ways[k] * std::pow(t, k) * std::pow(1 - t, 4 - k) * controls[2 * k + d];
            }
            result.push_back(sum);
        }
    return result;
}

/// How much of each pixel a triangle covers.
Numbers triangle(const Numbers& vertices) {
    Numbers result;
    for (int row = 0; row < side; ++row)
        for (int column = 0; column < side; ++column) {
            const double x = (column + 0.5) / side * 2 - 1;
            const double y = (row + 0.5) / side * 2 - 1;
            double cover = 1;
            for (std::size_t k = 0; k < 3; ++k) {
                const double* u = &vertices[2 * k];
                const double* v = &vertices[2 * ((k + 1) % 3)];
                const double cross = (v[0] - u[0]) * (y - u[1]) - (v[1] - u[1]) * (x - u[0]);
                cover /= 1 + std::exp(-cross / std::hypot(v[0] - u[0], v[1] - u[1]) / softness);
            }
            result.push_back(cover);
        }
    return result;
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const tensor_views::Module module(device);

    std::vector<float> places;
    for (int i = 0; i < samples; ++i) places.push_back(place_of(i));
    const auto t = device.tensor<float>(places, {samples});
    const auto bezier = module.bezier.threads(samples);
    report(device, module,
           {.name = "curve",
            .forward = [&](const auto& x, const auto& y) { bezier(t, x, y); },
            .backward = [&](const auto& x, const auto& y) { bezier.backward(t, x, y); },
            .plain = curve,
            .start = {-1, 0, -0.5, 0, 0, 0, 0.5, 0, 1, 0},
            .goal = {-1, -0.5, -1, 1, 0, -2, 1, 1, 1, -0.5},
            .shape = {samples, 2},
            .rate = 0.04F});

    const auto rasterize = module.rasterize.threads(side, side);
    report(device, module,
           {.name = "triangle",
            .forward = [&](const auto& x, const auto& y) { rasterize(camera, softness, x, y); },
            .backward = [&](const auto& x, const auto& y) { rasterize.backward(camera, softness, x, y); },
            .plain = triangle,
            .start = {-0.3, -0.3, 0.3, -0.3, 0, 0.3},
            .goal = {-0.7, -0.4, 0.8, -0.6, 0.1, 0.7},
            .shape = {side, side},
            .rate = 0.002F});
}
