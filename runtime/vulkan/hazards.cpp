// Which memory the commands since the last barrier have touched.
#include "vulkan/hazards.h"

#include <utility>

namespace kf::vulkan {

std::size_t Hazards::find(const void* key) const {
    const std::size_t mask = entries_.size() - 1;
    const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key));
    auto index = static_cast<std::size_t>((bits * 0x9E3779B97F4A7C15ULL) >> 32U) & mask;
    while (entries_[index].epoch == epoch_ && entries_[index].key != key) {
        index = (index + 1) & mask;
    }
    return index;
}

bool Hazards::conflicts(const void* key, bool writes) const {
    const Entry& entry = entries_[find(key)];
    return entry.epoch == epoch_ && (writes || entry.written);
}

void Hazards::note(const void* key, bool writes) {
    Entry* entry = &entries_[find(key)];
    if (entry->epoch == epoch_) {
        entry->written = entry->written || writes;
        return;
    }
    if ((count_ + 1) * 2 > entries_.size()) {
        grow();
        entry = &entries_[find(key)];
    }
    *entry = Entry{key, epoch_, writes};
    ++count_;
}

void Hazards::grow() {
    std::vector<Entry> old(entries_.size() * 2);
    std::swap(old, entries_);
    for (const Entry& entry : old) {
        if (entry.epoch == epoch_) {
            entries_[find(entry.key)] = entry;
        }
    }
}

void Hazards::clear() {
    ++epoch_;
    count_ = 0;
}

}  // namespace kf::vulkan
