// Prints 3 * 2 * [1, 2, 3], each factor by kernels of its own.
#include <iostream>

#include "scale.h"
#include "scale_again.h"

int main() {
    const kf::Device device = kf::Device::open();
    const scale::Module module(device);
    const scale_again::Module again(device);
    const auto x = device.tensor<float>({1, 2, 3});
    for (const float value : again.scale(3.0F, module.scale(2.0F, x)).to_vector()) std::cout << value << ' ';
}
