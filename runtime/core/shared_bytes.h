// Bytes that several owners share and none changes: one cubin holds many kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kf {

/// A value: copies are cheap and equal when their bytes are. Thread-safe, as it never changes.
class SharedBytes {
public:
    SharedBytes() = default;
    SharedBytes(std::vector<std::byte> bytes) {  // NOLINT(google-explicit-constructor)
        auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        bytes_ = *kept;
        owner_ = std::move(kept);
    }
    /// Bytes that `owner` keeps alive.
    SharedBytes(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
        : owner_(std::move(owner)), bytes_(bytes) {}

    [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    [[nodiscard]] std::span<const std::byte> span() const { return bytes_; }
    [[nodiscard]] std::vector<std::byte> copy() const { return {bytes_.begin(), bytes_.end()}; }
    /// Some of these, which stay alive with all of them.
    [[nodiscard]] SharedBytes part(std::span<const std::byte> bytes) const { return {owner_, bytes}; }

    bool operator==(const SharedBytes& other) const {
        return size() == other.size() && (data() == other.data() || std::ranges::equal(bytes_, other.bytes_));
    }

private:
    std::shared_ptr<const void> owner_;
    std::span<const std::byte> bytes_;
};

}  // namespace kf
