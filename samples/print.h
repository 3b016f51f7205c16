// Tensors as text, for the samples: "[[11,22,33],[41,52,63]]".
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include <kf/tensor.h>

template <class T, std::size_t N>
std::string to_string(const kf::Tensor<T, N>& tensor) {
    const std::vector<T> values = tensor.to_vector();
    const kf::Shape<N> shape = tensor.shape();
    std::ostringstream text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        // A bracket opens and closes wherever a whole row, plane, ... starts and ends.
        std::size_t opening = 0;
        std::size_t closing = 0;
        std::size_t block = 1;
        for (std::size_t d = N; d-- > 0;) {
            block *= static_cast<std::size_t>(shape[d]);
            opening += i % block == 0 ? 1 : 0;
            closing += (i + 1) % block == 0 ? 1 : 0;
        }
        text << (i == 0 ? "" : ",") << std::string(opening, '[') << values[i] << std::string(closing, ']');
    }
    return text.str();
}
