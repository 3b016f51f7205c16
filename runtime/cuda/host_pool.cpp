// Pinned host memory for transfers.
#include "cuda/host_pool.h"

#include <algorithm>
#include <cstring>

namespace kf::cuda {
namespace {

constexpr std::size_t chunk_size = 2UL << 20;  ///< bytes
constexpr std::size_t max_chunks = 8;
constexpr std::size_t alignment = 256;

}  // namespace

HostPool::~HostPool() {
    try {
        const Current current(*context_);
        for (const Chunk& chunk : chunks_) {
            (void)context_->cu.cuEventSynchronize(chunk.done);
            (void)context_->cu.cuEventDestroy_v2(chunk.done);
            (void)context_->cu.cuMemFreeHost(chunk.host);
        }
    } catch (...) {  // a lost device, or the end of the process
    }
}

bool HostPool::fits(const Chunk& chunk, std::size_t size) { return chunk_size - chunk.used >= size; }

HostPool::Chunk* HostPool::grow() {
    const Functions& cu = context_->cu;
    Chunk chunk;
    void* host = nullptr;
    if (chunks_.size() == max_chunks || cu.cuMemHostAlloc(&host, chunk_size, 0) != CUDA_SUCCESS) {
        return nullptr;
    }
    chunk.host = static_cast<std::byte*>(host);
    if (cu.cuEventCreate(&chunk.done, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        (void)cu.cuMemFreeHost(host);
        return nullptr;
    }
    chunks_.push_back(chunk);
    return &chunks_.back();
}

HostPool::Chunk* HostPool::acquire(std::size_t size, const Stream& stream) {
    for (Chunk& chunk : chunks_) {
        if (chunk.stream == stream.id() && fits(chunk, size)) {
            return &chunk;
        }
    }
    Chunk* found = nullptr;
    for (Chunk& chunk : chunks_) {
        if (context_->cu.cuEventQuery(chunk.done) == CUDA_SUCCESS) {
            found = &chunk;
            break;
        }
    }
    if (found == nullptr) {
        found = grow();
    }
    if (found == nullptr && !chunks_.empty()) {
        found = &chunks_[oldest_];
        oldest_ = (oldest_ + 1) % chunks_.size();
        context_->check(context_->cu.cuEventSynchronize(found->done), "cuEventSynchronize");
    }
    if (found != nullptr) {
        found->used = 0;
        found->stream = stream.id();
    }
    return found;
}

bool HostPool::has_room(std::uint64_t size, const Stream& stream) {
    const BesideCaptures beside(*context_);
    const std::lock_guard lock(mutex_);
    std::uint64_t room = (max_chunks - chunks_.size()) * chunk_size;
    for (const Chunk& chunk : chunks_) {
        if (room >= size || (chunk.stream == stream.id() && fits(chunk, size))) {
            return true;
        }
        if (context_->cu.cuEventQuery(chunk.done) == CUDA_SUCCESS) {
            room += chunk_size;
        }
    }
    return room >= size;
}

void HostPool::copy_in(CUdeviceptr target, std::span<const std::byte> bytes, const Stream& stream) {
    const Functions& cu = context_->cu;
    const BesideCaptures beside(*context_);
    const std::lock_guard lock(mutex_);
    while (!bytes.empty()) {
        const std::size_t size = std::min(bytes.size(), chunk_size);
        Chunk* chunk = acquire(size, stream);
        if (chunk == nullptr) {
            context_->check(cu.cuMemcpyHtoDAsync_v2(target, bytes.data(), bytes.size(), stream.handle()),
                            "cuMemcpyHtoDAsync");
            context_->check(cu.cuStreamSynchronize(stream.handle()), "cuStreamSynchronize");
            return;
        }
        std::byte* place = chunk->host + chunk->used;
        std::memcpy(place, bytes.data(), size);
        context_->check(cu.cuMemcpyHtoDAsync_v2(target, place, size, stream.handle()), "cuMemcpyHtoDAsync");
        chunk->used = std::min(chunk_size, (chunk->used + size + alignment - 1) / alignment * alignment);
        context_->check(cu.cuEventRecord(chunk->done, stream.handle()), "cuEventRecord");
        target += size;
        bytes = bytes.subspan(size);
    }
}

}  // namespace kf::cuda
