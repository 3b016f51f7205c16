// What a list of commands keeps alive: each object once, most of the time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kf {

/// Owns objects that say who owns them (std::enable_shared_from_this), and is quick about those that it was
/// given lately. Not thread-safe.
template <class T>
class Owners {
public:
    void add(T& object) {
        const auto place = reinterpret_cast<std::uintptr_t>(&object);
        // Owned ones can't be destroyed, so no other object has had the address since.
        const T*& recent = recent_[(place >> 6U ^ place >> 10U) % recent_.size()];
        if (recent == &object) {
            return;
        }
        owned_.push_back(object.shared_from_this());
        recent = &object;
    }
    /// Owns `other` instead of what it owned.
    void exchange(const T& known, T& other) {
        for (std::shared_ptr<T>& one : owned_) {
            if (one.get() == &known) one = other.shared_from_this();
        }
        recent_.fill(nullptr);
    }
    void clear() {
        owned_.clear();
        recent_.fill(nullptr);
    }
    [[nodiscard]] std::span<const std::shared_ptr<T>> all() const { return owned_; }

private:
    std::vector<std::shared_ptr<T>> owned_;
    std::array<const T*, 32> recent_{};
};

}  // namespace kf
