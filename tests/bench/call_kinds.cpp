// CPU time of calls that bind in other ways than the plainest one.
#include "call_kinds.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench.h"
#include "measure.h"

using namespace bench_support;

namespace {

constexpr int calls_a_round = 200;  ///< fewer than wait in a stream before launching blocks
constexpr int rounds = 31;

struct Kind {
    std::string name;
    std::function<void()> call;
    std::function<void()> before = [] {};  ///< a round, not timed
    std::function<void()> after = [] {};
};

}  // namespace

nlohmann::json time_call_kinds(const kf::Device& device) {
    const bench::Module module(device);
    const auto exact = module.looked_up.options({.deterministic = true});
    constexpr std::int64_t count = 1024;
    const std::vector<float> numbers = uniform(count, 1);
    const auto x = device.tensor(numbers).with_grads();
    const auto y = device.empty<float>({count}).with_grads(device.tensor(numbers), {});
    const auto a = device.tensor<float>({2}).with_grads();
    const auto b = device.tensor<float>({8}).with_grads();
    const auto c = device.tensor<float>({-1}).with_grads();
    const auto ha = device.ones<kf::half>({1}).with_grads();
    const auto hb = device.ones<kf::half>({1}).with_grads();
    const auto hc = device.ones<kf::half>({1}).with_grads();
    const auto hx = device.ones<kf::half>({count}).with_grads();
    const auto hy = device.ones<kf::half>({count}).with_grads();
    const auto plane = device.ones<float>({32, 32}).with_grads();
    const auto turned = device.ones<float>({32, 32}).transpose();
    const auto row = device.ones<float>({1, 32}).with_grads();
    const auto result = device.ones<float>({32, 32});
    const auto total = device.zeros<float>({1, 1});
    const auto table = device.ones<float>({8}).with_grads();
    const auto index = device.tensor(indices(count, 8, 3));
    const auto rays = device.zeros<bench::Ray>({count});
    std::vector<kf::Tensor<float, 1>> inputs;
    std::vector<kf::Tensor<float, 1>> outputs;
    for (std::int64_t i = 1; i <= 8; ++i) {
        inputs.push_back(device.zeros<float>({128 * i}));
        outputs.push_back(device.zeros<float>({128 * i}));
    }
    std::size_t turn = 0;
    std::optional<kf::Encoder> encoder;
    const auto begin = [&] { encoder.emplace(device.encoder()); };
    const auto submit = [&] { encoder->submit(); };
    const auto record = [&](kf::Encoder& into) {
        module.polynomial.append_to(into, 2, 8, -1, x, kf::out(y));
    };
    const auto record_backward = [&](kf::Encoder& into) {
        module.polynomial.backward.append_to(into, a, b, c, x, y);
    };
    const std::vector<Kind> kinds = {
        {"forward", [&] { module.polynomial(2, 8, -1, x, kf::out(y)); }},
        {"forward.returned", [&] { static_cast<void>(module.polynomial(2, 8, -1, x)); }},
        {"forward.eight_shapes",
         [&] {
             const std::size_t i = turn++ % inputs.size();
             module.polynomial(2, 8, -1, inputs[i], kf::out(outputs[i]));
         }},
        {"forward.strided", [&] { module.scaled(turned, plane, kf::out(result)); }},
        {"forward.broadcast", [&] { module.scaled(plane, row, kf::out(result)); }},
        {"forward.structs", [&] { module.along(rays, 2, kf::out(y)); }},
        {"forward.generated", [&] { module.jittered(x, kf::RandFloat{.seed = 7}, kf::out(y)); }},
        {"forward.sum", [&] { module.squared(plane, kf::out(total)); }},
        {"backward", [&] { module.polynomial.backward(a, b, c, x, y); }},
        {"backward.half_sums", [&] { module.polynomial_of_halves.backward(ha, hb, hc, hx, hy); }},
        {"backward.rows", [&] { module.scaled.backward(plane, row, result); }},
        {"backward.gathered", [&] { module.looked_up.backward(table, index, x, y); }},
        {"backward.gathered.deterministic", [&] { exact.backward(table, index, x, y); }},
        {"record", [&] { record(*encoder); }, begin, submit},
        {"record.backward", [&] { record_backward(*encoder); }, begin, submit},
        {"record_and_submit",
         [&] {
             kf::Encoder one = device.encoder();
             record(one);
             one.submit();
         }},
        {"record_and_submit.backward",
         [&] {
             kf::Encoder one = device.encoder();
             record_backward(one);
             one.submit();
         }},
    };
    std::vector<std::vector<double>> times(kinds.size());
    for (int round = -2; round < rounds; ++round) {
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            kinds[k].before();
            const double time = seconds([&] {
                for (int i = 0; i < calls_a_round; ++i) kinds[k].call();
                device.flush();
            });
            kinds[k].after();
            device.wait();
            if (round >= 0) times[k].push_back(1e6 * time / calls_a_round);
        }
    }
    nlohmann::json found{{"unit", "us of CPU time a call"}, {"count", count}};
    const double forward = median(times[0]);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        const double time = median(times[k]);
        found[kinds[k].name] = time;
        found["of_forward"][kinds[k].name] = time / forward;
    }
    return found;
}
