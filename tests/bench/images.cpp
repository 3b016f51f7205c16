// kf_bench_images DEVICE: fills and blurs of textures by turns with kernels written by hand, CPU time of
// calls with textures by turns with calls with tensors, and how many paths the sample traces in a second, as
// JSON.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "batches.h"
#include "bench_images.h"
#include "core/command_log.h"
#include "core/device_state.h"
#include "core/encoder_state.h"
#include "cuda/driver.h"
#include "image_filters.h"
#include "images_by_hand.h"
#include "path_tracer.h"
#include "scene.h"
#include "vulkan/driver.h"

namespace {

using namespace bench_support;
using namespace scenes;

using Texture = kf::RWTexture2D<kf::float4>;

std::vector<float> gaussian() {
    std::vector<float> weights;
    float sum = 0;
    for (int i = -8; i <= 8; ++i) sum += weights.emplace_back(std::exp(-static_cast<float>(i * i) / 12.5F));
    for (float& weight : weights) weight /= sum;
    return weights;
}

std::unique_ptr<ImagesByHand> by_hand(const std::shared_ptr<kf::driver::Device>& driver, bool is_vulkan,
                                      int side) {
    if (is_vulkan) {
        if (std::string_view(KF_BENCH_BY_HAND).empty()) return nullptr;
        return images_on_vulkan(driver, KF_BENCH_BY_HAND, side, gaussian());
    }
#ifdef KF_BENCH_HAS_CUDA
    return images_on_cuda(side, gaussian());
#else
    return nullptr;
#endif
}

/// Ours beside the one written by hand, if there is one; `bytes` are moved by a call.
nlohmann::json compare_images(const kf::Device& device, ImagesByHand* hand, double bytes, int calls,
                              const Call& ours, const Call& by_hand) {
    std::vector<Call> each{ours};
    if (hand != nullptr) each.push_back(by_hand);
    const auto wait = [&] {
        device.wait();
        if (hand != nullptr) hand->wait();
    };
    const std::vector<double> times = batches(wait, calls, 9, each);
    nlohmann::json result{{"us", times[0]}, {"GB_per_s", bytes / times[0] / 1000}};
    if (hand != nullptr) {
        result["hand_us"] = times[1];
        result["of_hand_written"] = times[1] / times[0];
    }
    return result;
}

nlohmann::json time_fill(const kf::Device& device, const bench_images::Module& module, ImagesByHand* hand,
                         int side) {
    const Texture texture = Texture::empty(device, {side, side});
    const kf::Grid<2> pixels{{side, side}};
    const double bytes = 16.0 * side * side;
    const Call fill_by_hand = [&] { hand->fill({1, 0.5F, 0.25F, 1}); };
    const kf::float4 color{1, 0.5F, 0.25F, 1};
    return {
        {"side", side},
        {"whole", compare_images(
                      device, hand, bytes, 16, [&] { module.fill(pixels, color, texture); }, fill_by_hand)},
        {"per_pixel",
         compare_images(
             device, hand, bytes, 16, [&] { module.paint(color, kf::out(texture)); }, fill_by_hand)}};
}

/// The sample's, along rows and columns.
nlohmann::json time_blur(const kf::Device& device, ImagesByHand* hand, int side) {
    const image_filters::Module module(device);
    const Texture image = Texture::empty(device, {side, side});
    const Texture between = Texture::empty(device, {side, side});
    const Texture blurred = Texture::empty(device, {side, side});
    const std::vector<float> values = gaussian();
    const kf::Buffer<float> weights(device, values);
    const auto blur = module.blur.threads(static_cast<std::uint32_t>(side), static_cast<std::uint32_t>(side));
    nlohmann::json result = compare_images(
        device, hand, 64.0 * side * side, 16,
        [&] {
            blur(image, between, weights, false);
            blur(between, blurred, weights, true);
        },
        [&] { hand->blur(); });
    result["side"] = side;
    return result;
}

/// Microseconds of CPU time a call, of little data.
nlohmann::json time_image_calls(const kf::Device& device, const bench_images::Module& module) {
    constexpr int side = 32;
    constexpr int calls = 400;
    const Texture x = Texture::empty(device, {side, side});
    const Texture y = Texture::empty(device, {side, side});
    const auto x_tensor = device.zeros<kf::float4>({side, side});
    const auto y_tensor = device.zeros<kf::float4>({side, side});
    const kf::float4 color{1, 0, 0, 1};
    const std::vector<std::pair<std::string, Call>> each{
        {"written.tensor", [&] { module.paint(color, kf::out(y_tensor)); }},
        {"written.texture", [&] { module.paint(color, kf::out(y)); }},
        {"read_and_written.tensor", [&] { module.scale_tensor(x_tensor, 2, kf::out(y_tensor)); }},
        {"read_and_written.texture", [&] { module.scale(x, 2, kf::out(y)); }}};
    std::vector<std::vector<double>> times(each.size());
    for (int round = -2; round < 31; ++round) {
        for (std::size_t k = 0; k < each.size(); ++k) {
            const double time = seconds([&] {
                for (int i = 0; i < calls; ++i) each[k].second();
                device.flush();
            });
            device.wait();
            if (round >= 0) times[k].push_back(1e6 * time / calls);
        }
    }
    nlohmann::json result{{"unit", "us of CPU time a call"}};
    for (std::size_t k = 0; k < each.size(); ++k) result[each[k].first] = median(times[k]);
    for (const std::string name : {"written", "read_and_written"})
        result[name + ".more"] =
            result[name + ".texture"].get<double>() - result[name + ".tensor"].get<double>();
    return result;
}

/// The sample's kernel; the same with its block, given to the driver as it is; and the function.
nlohmann::json time_paths(const kf::Device& device, kf::driver::Device& driver, std::uint32_t width,
                          std::uint32_t height) {
    const path_tracer::Module module(device);
    const Scene scene = make_scene();
    const Texture output = Texture::empty(device, {height, width});
    path_tracer::Globals globals = globals_of(device, scene, orbit(0.04, {width, height}));
    globals.g_output = output;
    globals.g_frame = 0;
    const auto kernel = module.main.set(globals).threads(width, height);
    const auto raytrace = module.raytrace.set(globals);
    kf::Encoder encoder = kf::detail::hook_encoder(device.state());
    kernel.append_to(encoder);
    const auto& launch = static_cast<kf::detail::CommandLog&>(*encoder.state().recorder);
    const std::vector<double> times = batches([&] { device.wait(); }, 4, 5,
                                              {[&] { kernel(); }, [&] { launch.replay(driver); },
                                               [&] {
                                                   raytrace(0, kf::Grid<2>{{height, width}}, kf::out(output));
                                               }});
    kf::detail::close_hook_encoder(encoder);
    const double paths = 4.0 * width * height;
    return {{"size", {width, height}},
            {"kernel.paths_per_s", 1e6 * paths / times[0]},
            {"by_hand.paths_per_s", 1e6 * paths / times[1]},
            {"function.paths_per_s", 1e6 * paths / times[2]},
            {"of_by_hand", {{"kernel", times[1] / times[0]}, {"function", times[1] / times[2]}}}};
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string id = argc > 1 ? argv[1] : "vulkan";
        const std::size_t colon = id.find(':');
        const int index = colon == std::string::npos ? 0 : std::stoi(id.substr(colon + 1));
        const bool is_vulkan = id.starts_with("vulkan");
        // Opened here, so that kernels written by hand run on the same driver.
        const auto driver = is_vulkan ? kf::vulkan::open_vulkan(index) : kf::cuda::open_cuda(index);
        const kf::Device device = kf::detail::make_device(driver);
        const bench_images::Module module(device);
        const bool is_cpu = device.info().is_cpu;
        nlohmann::json result{{"device", device.info().name}, {"driver", device.info().driver}};
        {
            const int side = is_cpu ? 512 : 8192;
            const auto hand = by_hand(driver, is_vulkan, side);
            result["fill"] = time_fill(device, module, hand.get(), side);
        }
        {
            const int side = is_cpu ? 256 : 4096;
            const auto hand = by_hand(driver, is_vulkan, side);
            result["blur"] = time_blur(device, hand.get(), side);
        }
        result["calls"] = time_image_calls(device, module);
        result["path_tracer"] =
            is_cpu ? time_paths(device, *driver, 80, 60) : time_paths(device, *driver, 1920, 1080);
        std::cout << result.dump(2) << '\n';
    } catch (const std::exception& error) {
        std::cerr << "kf_bench_images: " << error.what() << '\n';
        return 1;
    }
}
