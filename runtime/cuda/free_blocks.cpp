// Keeps returned memory.
#include "cuda/free_blocks.h"

#include <algorithm>

namespace kf::cuda {

CUdeviceptr FreeBlocks::take(std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = count_; i-- > 0;) {
        if (blocks_[i].size != size) continue;
        const CUdeviceptr address = blocks_[i].address;
        std::copy(blocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  blocks_.begin() + static_cast<std::ptrdiff_t>(count_),
                  blocks_.begin() + static_cast<std::ptrdiff_t>(i));
        --count_;
        return address;
    }
    return 0;
}

FreeBlocks::Block FreeBlocks::keep(Block block) {
    const std::lock_guard lock(mutex_);
    const Block oldest = count_ == kept ? pop() : Block{};
    blocks_[count_++] = block;
    return oldest;
}

FreeBlocks::Block FreeBlocks::release() {
    const std::lock_guard lock(mutex_);
    return count_ == 0 ? Block{} : pop();
}

FreeBlocks::Block FreeBlocks::pop() {
    const Block oldest = blocks_.front();
    std::copy(blocks_.begin() + 1, blocks_.begin() + static_cast<std::ptrdiff_t>(count_), blocks_.begin());
    --count_;
    return oldest;
}

}  // namespace kf::cuda
