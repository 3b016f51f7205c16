// Prints 2 * [1, 2, 3] + 1: a tensor goes from the kernels of a shared library to those of a static one.
#include <exception>
#include <iostream>

#include "offset.h"
#include "scale.h"

int main() {
    try {
        const kf::Device device = kf::Device::open();
        const auto scaled = scale::Module(device).scale(2.0F, device.tensor<float>({1, 2, 3}));
        for (const float value : offset::Module(device).offset(1.0F, scaled).to_vector())
            std::cout << value << ' ';
    } catch (const std::exception& error) {
        std::cout << error.what();
        return 1;
    }
}
