// Which memory the commands since the last barrier have touched, and so where the next one is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kf::vulkan {

/// A small hash set of pointers; clear() takes no time and its memory is kept. Not thread-safe.
class Hazards {
public:
    /// Whether an access of `key` must wait for an earlier one: read after write, write after anything.
    [[nodiscard]] bool conflicts(const void* key, bool writes) const;
    void note(const void* key, bool writes);
    /// Forgets all accesses, as after a barrier.
    void clear();

private:
    struct Entry {
        const void* key = nullptr;
        std::uint64_t epoch = 0;  ///< an entry of an earlier epoch is an empty place
        bool written = false;
    };

    [[nodiscard]] std::size_t find(const void* key) const;
    void grow();

    std::vector<Entry> entries_ = std::vector<Entry>(64);  ///< a power of two, at most half full
    std::size_t count_ = 0;
    std::uint64_t epoch_ = 1;
};

}  // namespace kf::vulkan
