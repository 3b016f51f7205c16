// Pinned host memory that kernels read and write where it lies.
#include "cuda/mapped_pool.h"

#include <bit>

namespace kf::cuda {
namespace {

constexpr std::size_t mapped_chunk = 512UL << 10;  ///< bytes
constexpr std::size_t max_mapped_chunks = 16;

std::size_t class_of(std::uint64_t size) {
    return size <= MappedPool::smallest
               ? 0
               : static_cast<std::size_t>(std::bit_width((size - 1) / MappedPool::smallest));
}

}  // namespace

MappedPool::~MappedPool() {
    try {
        const Current current(*context_);
        const Functions& cu = context_->cu;
        for (const Pending& pending : pending_) {
            (void)cu.cuEventSynchronize(pending.done);
            (void)cu.cuEventDestroy_v2(pending.done);
        }
        for (CUevent event : events_) (void)cu.cuEventDestroy_v2(event);
        for (std::byte* chunk : chunks_) (void)cu.cuMemFreeHost(chunk);
    } catch (...) {  // a lost device, or the end of the process
    }
}

MappedPool::Piece MappedPool::take(std::uint64_t size) {
    const std::size_t wanted = class_of(size);
    if (wanted >= classes) return {};
    const std::lock_guard lock(mutex_);
    std::vector<Piece>& idle = idle_[wanted];
    if (idle.empty()) reclaim();
    if (idle.empty()) return cut(wanted);
    const Piece piece = idle.back();
    idle.pop_back();
    return piece;
}

MappedPool::Piece MappedPool::cut(std::size_t size_class) {
    const std::size_t size = smallest << size_class;
    if (chunks_.empty() || mapped_chunk - used_ < size) {
        void* host = nullptr;
        if (chunks_.size() == max_mapped_chunks) return {};
        const Current current(*context_);
        const BesideCaptures beside(*context_);
        if (context_->cu.cuMemHostAlloc(&host, mapped_chunk, 0) != CUDA_SUCCESS) return {};
        chunks_.push_back(static_cast<std::byte*>(host));
        used_ = 0;
    }
    const Piece piece{chunks_.back() + used_, size_class};
    used_ += size;
    return piece;
}

void MappedPool::give(const Piece& piece) {
    const std::lock_guard lock(mutex_);
    idle_[piece.size_class].push_back(piece);
}

void MappedPool::give_after(const Piece& piece, const Stream& stream) {
    const Functions& cu = context_->cu;
    const std::lock_guard lock(mutex_);
    Pending pending{piece, nullptr};
    if (events_.empty()) {
        context_->check(cu.cuEventCreate(&pending.done, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    } else {
        pending.done = events_.back();
        events_.pop_back();
    }
    pending_.push_back(pending);
    (void)cu.cuEventRecord(pending.done, stream.handle());
}

void MappedPool::reclaim() {
    if (pending_.empty()) return;
    const Current current(*context_);
    const BesideCaptures beside(*context_);
    while (!pending_.empty() && context_->cu.cuEventQuery(pending_.front().done) == CUDA_SUCCESS) {
        idle_[pending_.front().piece.size_class].push_back(pending_.front().piece);
        events_.push_back(pending_.front().done);
        pending_.pop_front();
    }
}

}  // namespace kf::cuda
