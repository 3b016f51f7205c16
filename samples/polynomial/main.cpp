// Evaluates a polynomial over a tensor, then its gradient.
#include <iostream>

#include "polynomial.h"
#include "print.h"

int main() {
    const kf::Device device = kf::Device::open();
    const polynomial::Module module(device);

    const auto x = device.tensor<float>({1, 2, 3, 4}).with_grads();
    const auto y = module.polynomial(2, 8, -1, x);
    std::cout << "2x²+8x−1 at [1,2,3,4] = " << to_string(y) << '\n';

    // y has no gradient of its own, so 1 flows in and x.grad() becomes dy/dx.
    module.polynomial.backward(2, 8, -1, x, y);
    std::cout << "its gradient there = " << to_string(x.grad()) << '\n';
}
