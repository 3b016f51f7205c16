// Adds numbers, vectors and matrices with one Slang function, which broadcasts as NumPy does.
#include <iostream>

#include "add.h"
#include "print.h"

int main() {
    const kf::Device device = kf::Device::open();
    const add::Module module(device);

    std::cout << "add(10, 20) = " << module.add(10, 20) << '\n';

    const auto x = device.tensor<int>({10, 20, 30});
    std::cout << "[10,20,30] + 20 = " << to_string(module.add(x, 20)) << '\n';

    const auto y = device.tensor<int>({40, 50, 60});
    std::cout << "[10,20,30] + [40,50,60] = " << to_string(module.add(x, y)) << '\n';

    const auto matrix = device.tensor<int>({{10, 20, 30}, {40, 50, 60}});
    const auto row = device.tensor<int>({1, 2, 3});
    std::cout << "[[10,20,30],[40,50,60]] + [1,2,3] = " << to_string(module.add(matrix, row)) << '\n';

    const auto longer = device.tensor<int>({40, 50, 60, 70});
    try {
        static_cast<void>(module.add(x, longer));
    } catch (const kf::ArgumentError& error) {
        std::cout << "[10,20,30] + [40,50,60,70]: error: " << error.what() << '\n';
    }
}
