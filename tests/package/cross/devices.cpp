// Lists devices, and doubles [1, 2, 3] on the first of them.
#include <kf/device.h>

#include <iostream>

#include "scale.h"

int main() {
    const auto devices = kf::devices();
    std::cout << "devices: " << devices.size() << '\n';
    if (devices.empty()) return 0;
    const kf::Device device = kf::Device::open();
    const scale::Module module(device);
    for (const float value : module.scale(2.0F, device.tensor<float>({1, 2, 3})).to_vector())
        std::cout << value << ' ';
}
