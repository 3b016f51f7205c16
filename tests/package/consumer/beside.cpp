// Prints [1, 2, 3] + 2, with the kernels in a file beside the program.
#include <iostream>

#include "offset.h"

int main() {
    try {
        const kf::Device device = kf::Device::open();
        const consumer::kernels::Module module(device);
        const auto x = device.tensor<float>({1, 2, 3});
        for (const float value : module.offset(2.0F, x).to_vector()) std::cout << value << ' ';
    } catch (const kf::ArtifactError& error) {
        std::cout << error.what();
        return 1;
    }
}
