// Functions that take whole tensors, and gradients through what they load and store.
#include "differentiable_tensors.h"

#include <iostream>

#include "print.h"

int main() {
    const kf::Device device = kf::Device::open();
    const differentiable_tensors::Module module(device);
    const kf::Grid<1> four{{4}};

    const auto x = device.tensor<float>({1, 2, 3, 4}).with_grads();
    const auto y = device.empty<float>({4});
    module.polynomial(four, 2, 8, -1, x, y);
    std::cout << "2x²+8x−1 at [1,2,3,4] = " << to_string(y) << '\n';
    // y has no gradient of its own, so 1 flows in.
    module.polynomial.backward(four, 2, 8, -1, x, y);
    std::cout << "its gradient there = " << to_string(x.grad()) << '\n';

    // What is both read and written has one gradient that flows in and another that flows out. Its gradient
    // is that of the values before the call.
    const auto data = device.tensor<float>({1, 2, 3, 4})
                          .with_grads(device.tensor<float>({1, 1, 1, 1}), device.tensor<float>({0, 0, 0, 0}));
    module.process_inplace.backward(four, data);
    module.process_inplace(four, data);
    std::cout << "doubled in place = " << to_string(data) << " gradient = " << to_string(data.grad_out())
              << '\n';

    const kf::Grid<1> five{{5}};
    const auto s = device.tensor<float>({-0.5F, 0, 0.25F, 0.5F, 1.5F}).with_grads();
    const auto smooth = module.custom_activation(five, s);
    std::cout << "smoothstep = " << to_string(smooth) << '\n';
    module.custom_activation.backward(five, s, smooth);
    std::cout << "its gradient = " << to_string(s.grad()) << '\n';

    const kf::Grid<1> two{{2}};
    const auto weights = device.tensor<float>({{1, 2, 3}, {4, 5, 6}}).with_grads();
    const auto bias = device.tensor<float>({0.5F, -0.5F}).with_grads();
    const auto features = device.tensor<float>({1, -1, 2}).with_grads();
    const auto output = device.empty<float>({2});
    module.linear_layer(two, weights, bias, features, output);
    std::cout << "linear layer = " << to_string(output) << '\n';
    module.linear_layer.backward(two, weights, bias, features, output);
    std::cout << "gradients of weights = " << to_string(weights.grad())
              << " bias = " << to_string(bias.grad()) << " input = " << to_string(features.grad()) << '\n';
}
