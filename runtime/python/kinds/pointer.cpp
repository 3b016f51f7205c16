// Pointers in calls from Python: tensors, buffers and addresses as integers.
#include "python/kinds/pointer.h"

#include <cstring>

#include "python/buffer.h"
#include "python/scalars.h"
#include "python/tensor.h"

namespace kf::python {

using detail::Arg;

Arg convert_item(const manifest::kinds::Pointer&, CallItems& items, std::size_t i, const Context&) {
    Host& host = items.host(i);
    std::byte* address = host.value.reserve(sizeof(std::uint64_t)).data();
    if (host.tensor == nullptr) {
        pack_number(host.content, ScalarType::uint64, address, items.where(i));
        return Arg::make(Arg::Kind::pointer, address, nullptr, nullptr, nullptr);
    }
    if (may_write_through(items.leaf(i))) check_writable_buffer(host.content, items.where(i));
    host.passed = host.tensor->any;
    const std::uint64_t first = host.passed.address();
    std::memcpy(address, &first, sizeof first);
    return Arg::make(Arg::Kind::pointer, address, nullptr, nullptr, &host.passed);
}

}  // namespace kf::python
