// Trains a small network that holds a picture; neural_texture.ppm shows the picture, what the network learned
// of it, drawn larger, and how the loss fell.
#include "neural_texture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <tuple>

#include "picture.h"

namespace {

constexpr int steps = 200;
constexpr int side = 64;
constexpr int zoom = 3;

struct Layer {
    kf::Tensor<float, 2> weights, mean, variance;
};

Layer make_layer(const kf::Device& device, const neural_texture::Module& module, std::uint32_t seed,
                 int outputs, int inputs) {
    const kf::RandFloat random{.min = -1, .max = 1, .seed = seed, .hash_seed = true};
    const kf::Shape<2> shape{outputs, inputs + 1};
    return {module.start_weight(random, inputs, shape).with_grads(), device.zeros<float>(shape),
            device.zeros<float>(shape)};
}

double sum(const kf::Tensor<float, 2>& losses) {
    const std::vector<float> values = losses.to_vector();
    return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The losses on a logarithmic scale, from 1 at the top to 1/1024 at the bottom: white on black.
void draw_curve(Picture& picture, int top, int width, int height, const std::vector<double>& history) {
    for (int x = 0; x < width; ++x) {
        const double value = history[static_cast<std::size_t>(x * steps / (width - 1))];
        const int y = static_cast<int>(-std::log2(value) / 10 * height);
        picture.at(x, top + std::clamp(y, 0, height - 1)) = {1, 1, 1};
    }
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const neural_texture::Module module(device);
    const kf::Grid<2> pixels{{side, side}};
    const kf::int2 size{side, side};
    const auto expected = module.reference(pixels, size);

    const std::array<Layer, 3> layers{make_layer(device, module, 0, 16, 20),
                                      make_layer(device, module, 1, 16, 16),
                                      make_layer(device, module, 2, 3, 16)};
    const auto& [w0, w1, w2] = std::tie(layers[0].weights, layers[1].weights, layers[2].weights);

    std::vector<double> history;
    for (int step = 0; step <= steps; ++step) {
        const auto losses = module.loss(pixels, size, expected, w0, w1, w2);
        history.push_back(sum(losses));
        // The gradients of the last step are replaced: the spec says "overwrite".
        module.loss.backward(pixels, size, expected, w0, w1, w2, losses);
        for (const Layer& layer : layers)
            module.adam(layer.weights, layer.mean, layer.variance, layer.weights.grad(), 0.02F, step + 1);
        if (step % 40 == 0) {
            // A star for each factor of two above 1/1024.
            const int stars = std::max(0, static_cast<int>(std::log2(history.back() * 1024)));
            std::printf("step %3d: loss %.2g %s\n", step, history.back(), std::string(stars, '*').c_str());
        }
    }

    // A network has no pixels: it is drawn at another size than it was trained at.
    constexpr int large = side * zoom;
    const auto learned = module.texel(kf::Grid<2>{{large, large}}, kf::int2{large, large}, w0, w1, w2);
    Picture page(2 * large, large + 96);
    page.draw(0, 0, side, zoom, expected.to_vector());
    page.draw(large, 0, large, 1, learned.to_vector());
    draw_curve(page, large, 2 * large, 96, history);
    page.save("neural_texture.ppm");
    std::printf("the picture, what was learned of it and the loss curve: neural_texture.ppm\n");
}
