// Fits a picture by a sum of Gaussians: structs of buffers, and an optimiser of its own. gaussian_fit.ppm
// shows the picture and what was learned of it, gaussian_fit.csv how the loss fell.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <numeric>
#include <vector>

#include "gaussian_fit.h"
#include "picture.h"

namespace {

constexpr std::uint32_t side = 64;
constexpr int steps = 100;
constexpr int across = 7;
constexpr std::uint32_t count = across * across;
constexpr int zoom = 4;

using Parameter = gaussian_fit::ParameterFields<kf::Buffer<float>, kf::RWBuffer<float>>;

/// What is learned, how fast, and what the optimiser remembers of it.
struct Learned {
    Learned(const kf::Device& device, float speed, const std::vector<float>& start)
        : values(device, start),
          gradients(device, std::vector<float>(start.size())),
          moments(device, std::vector<gaussian_fit::Moments>(start.size())),
          rate(speed) {}

    [[nodiscard]] Parameter parameter() const { return {values, gradients}; }

    kf::RWBuffer<float> values, gradients;
    kf::RWBuffer<gaussian_fit::Moments> moments;
    float rate;
};

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const gaussian_fit::Module module(device);

    std::vector<float> places;
    for (int y = 0; y < across; ++y)
        for (int x = 0; x < across; ++x)
            for (const int place : {x, y}) places.push_back((static_cast<float>(place) + 0.5F) / across);
    const std::vector<Learned> learned{
        {device, 0.005F, places},
        {device, 0.05F, std::vector<float>(std::size_t{2} * count, std::log(0.5F / across))},
        {device, 0.05F, std::vector<float>(count, 0.0F)},
        {device, 0.02F, std::vector<float>(std::size_t{3} * count, 0.3F)}};
    const gaussian_fit::OutlinesFields outlines{learned[0].parameter(), learned[1].parameter(),
                                                learned[2].parameter()};
    const gaussian_fit::SplatsFields splats{outlines, learned[3].parameter(), count};

    gaussian_fit::Globals globals;
    globals.canvas = gaussian_fit::Canvas{{side, side}};
    const kf::RWBuffer<kf::float3> wanted = device.empty<kf::float3>({std::int64_t{side} * side});
    const kf::RWBuffer<kf::float3> drawn = device.empty<kf::float3>({wanted.size()});
    const kf::RWBuffer<float> losses = device.empty<float>({wanted.size()});
    module.paint.set(globals).threads(side, side)(wanted);
    const auto draw = module.draw.set(globals).threads(side, side);

    std::vector<double> history;
    for (int step = 0; step <= steps; ++step) {
        draw(splats, wanted, drawn, losses);
        const std::vector<float> values = losses.to_vector();
        history.push_back(std::accumulate(values.begin(), values.end(), 0.0));
        for (const Learned& one : learned) {
            gaussian_fit::Globals now;
            now.step = step + 1;
            now.rate = one.rate;
            module.adam.set(now).threads(static_cast<std::uint32_t>(one.values.size()))(
                one.values, one.gradients, one.moments);
        }
    }

    std::ofstream table("gaussian_fit.csv");
    table << "step,loss\n";
    for (std::size_t step = 0; step < history.size(); ++step) table << step << ',' << history[step] << '\n';
    Picture page(2 * side * zoom, side * zoom);
    page.draw(0, 0, side, zoom, wanted.to_vector());
    page.draw(side * zoom, 0, side, zoom, drawn.to_vector());
    page.save("gaussian_fit.ppm");

    std::cout << "the loss fell to less than a tenth: "
              << (history.back() < history.front() / 10 ? "yes" : "no")
              << "\nthe picture and what was learned of it: gaussian_fit.ppm; the losses: gaussian_fit.csv\n";
}
