// Bytes that several owners share and none changes: one cubin holds many kernels.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kf {

/// A value: copies are cheap and equal when their bytes are. Thread-safe, as it never changes.
class SharedBytes {
public:
    SharedBytes() : bytes_(std::make_shared<const std::vector<std::byte>>()) {}
    SharedBytes(std::vector<std::byte> bytes)  // NOLINT(google-explicit-constructor)
        : bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}

    [[nodiscard]] const std::byte* data() const { return bytes_->data(); }
    [[nodiscard]] std::size_t size() const { return bytes_->size(); }
    [[nodiscard]] bool empty() const { return bytes_->empty(); }
    [[nodiscard]] std::span<const std::byte> span() const { return *bytes_; }
    [[nodiscard]] std::vector<std::byte> copy() const { return *bytes_; }

    bool operator==(const SharedBytes& other) const {
        return bytes_ == other.bytes_ || *bytes_ == *other.bytes_;
    }

private:
    std::shared_ptr<const std::vector<std::byte>> bytes_;
};

}  // namespace kf
