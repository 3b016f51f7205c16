// Tensors with room around them.
#include "check/guarded_tensor.h"

#include <algorithm>

namespace kf::check {
namespace {

bool all_are(const std::vector<std::byte>& bytes, std::size_t begin, std::size_t count, std::byte value) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(count),
                       [&](std::byte byte) { return byte == value; });
}

}  // namespace

GuardedTensor::GuardedTensor(const Device& device, const ElementType& element, const Dims& shape,
                             std::size_t gapped) {
    // Dimensions in memory: the gapped ones in reverse, the last of them twice as long; then the others.
    Dims stored;
    std::vector<std::int64_t> order;
    std::int64_t count = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        order.push_back(static_cast<std::int64_t>(d < gapped ? gapped - 1 - d : d));
        stored.push_back(shape[static_cast<std::size_t>(order[d])] * (d + 1 == gapped ? 2 : 1));
        count *= stored[d];
    }
    const auto size = static_cast<std::int64_t>(element.size());
    // 16 elements have an alignment that suits every one of them.
    const std::int64_t guard = (static_cast<std::int64_t>(guard_bytes) / size / 16 + 1) * 16;
    guard_ = static_cast<std::size_t>(guard * size);
    const bool floating = element.struct_size == 0 && is_floating(element.scalar);
    pattern_ = floating ? std::byte{0xff} : std::byte{0};
    const std::vector<std::byte> bytes(static_cast<std::size_t>((count + 2 * guard) * size), pattern_);
    base_ = AnyTensor::from_host(device, element, {count + 2 * guard}, bytes);
    tensor_ = base_.slice(0, guard, guard + count).reshape(stored);
    if (gapped == 0) return;
    tensor_ = tensor_.slice(static_cast<std::int64_t>(gapped) - 1, 0, stored[gapped - 1], 2).transpose(order);
}

std::vector<std::byte> GuardedTensor::read() const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor_.size()) * tensor_.element().size());
    tensor_.read(bytes);
    return bytes;
}

bool GuardedTensor::is_intact() const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(base_.size()) * base_.element().size());
    base_.read(bytes);
    return all_are(bytes, 0, guard_, pattern_) && all_are(bytes, bytes.size() - guard_, guard_, pattern_);
}

}  // namespace kf::check
