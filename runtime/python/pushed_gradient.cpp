// Pushed gradients.
#include "python/pushed_gradient.h"

#include <kf/device.h>

namespace kf::python {

Dims pushed_shape(const manifest::Call& call, const std::vector<std::pair<std::size_t, Dims>>& shapes,
                  const manifest::Argument& pushed) {
    Dims shape(static_cast<std::size_t>(call.rank), 1);
    for (const auto& [leaf, extents] : shapes) {
        const std::vector<std::int64_t>& map = call.arguments[leaf].map;
        for (std::size_t k = 0; k < map.size() && k < extents.size(); ++k) {
            if (extents[k] != 1) shape[static_cast<std::size_t>(map[k])] = extents[k];
        }
    }
    for (std::size_t k = 0; pushed.pitch == 0 && k < pushed.trailing.size(); ++k) {
        shape.push_back(pushed.trailing[k]);
    }
    return shape;
}

AnyTensor with_pushed(const AnyTensor& tensor, const Dims& shape) {
    const AnyTensor& old = tensor.grad_out();
    if (old && old.shape() == shape) return tensor;
    const AnyTensor made = AnyTensor::zeros(tensor.device(), tensor.element(), shape);
    const bool apart = tensor.grad_in() && tensor.grad_in().state() != old.state();
    return tensor.with_grads(apart ? tensor.grad_in() : made, made);
}

}  // namespace kf::python
