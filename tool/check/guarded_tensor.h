// Tensors with guards around them that show what a call reads or writes past their ends.
#pragma once

#include <kf/any_tensor.h>
#include <kf/device.h>

#include <cstddef>
#include <vector>

#include "check/argument_data.h"

namespace kf::check {

/// The room before and after a tensor, in bytes. A wrong index past it may reach anything.
inline constexpr std::size_t guard_bytes = 1 << 14;

/// A tensor amid NaNs (zeros where it holds no floating numbers).
class GuardedTensor {
public:
    GuardedTensor() = default;
    /// `gapped`: how many of its dimensions, the first ones, lie the other way round in memory, with gaps.
    GuardedTensor(const Device& device, const ElementType& element, const Dims& shape, std::size_t gapped);

    [[nodiscard]] const AnyTensor& tensor() const { return tensor_; }
    explicit operator bool() const { return static_cast<bool>(tensor_); }
    void write(const std::vector<std::byte>& bytes) const { tensor_.write(bytes); }
    [[nodiscard]] std::vector<std::byte> read() const;
    /// Whether nothing was written beside the tensor's own elements.
    [[nodiscard]] bool is_intact() const;

private:
    AnyTensor base_;  ///< all of the memory, one dimension
    AnyTensor tensor_;
    std::size_t guard_ = 0;  ///< bytes before and after
    std::byte pattern_{};
};

}  // namespace kf::check
