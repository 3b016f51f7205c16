// Prints 2 * [1, 2, 3], with the kernels inside the program.
#include <iostream>

#include "scale.h"

int main() {
    const kf::Device device = kf::Device::open();
    const scale::Module module(device);
    const auto x = device.tensor<float>({1, 2, 3});
    for (const float value : module.scale(2.0F, x).to_vector()) std::cout << value << ' ';
}
