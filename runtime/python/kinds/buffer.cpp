// Buffers in calls from Python.
#include "python/kinds/buffer.h"

#include "python/kinds/tensor_items.h"

namespace kf::python {

detail::Arg convert_item(const manifest::kinds::Buffer&, CallItems& items, std::size_t i,
                         const Context& context) {
    return convert_tensor(items, i, context);
}

}  // namespace kf::python
