// Chunks of persistently mapped host memory, for staging and for parameter blocks.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/context.h"

namespace kf::vulkan {

/// Chunks of one size, made as needed up to a limit and used round and round. Thread-safe.
class HostPool : public std::enable_shared_from_this<HostPool> {
public:
    enum class Purpose : std::uint8_t { upload, read_back, parameters };

    struct Piece {
        Buffer buffer;
        VkDescriptorSet set = VK_NULL_HANDLE;
    };

    /// Returns its chunk to the pool; command lists hold theirs until the GPU is done.
    class Chunk {
    public:
        Chunk(std::shared_ptr<HostPool> pool, const Piece& piece) : piece_(piece), pool_(std::move(pool)) {}
        ~Chunk();
        Chunk(const Chunk&) = delete;
        Chunk& operator=(const Chunk&) = delete;

        [[nodiscard]] const Buffer& buffer() const { return piece_.buffer; }
        /// A descriptor set for parameters: the buffer as Context::block_layout takes it,
        /// manifest::max_uniform_block bytes from a dynamic offset on.
        [[nodiscard]] VkDescriptorSet set() const { return piece_.set; }
        [[nodiscard]] std::uint64_t left() const { return piece_.buffer.size - top_; }
        /// The offset of `size` bytes not given before; the caller has seen that they are left. A uniform
        /// buffer may be bound there.
        std::uint64_t take(std::uint64_t size);

    private:
        Piece piece_;
        std::uint64_t top_ = 0;
        std::shared_ptr<HostPool> pool_;
    };

    HostPool(std::shared_ptr<Context> context, Purpose purpose, std::uint64_t chunk_size, std::size_t limit);
    ~HostPool();
    HostPool(const HostPool&) = delete;
    HostPool& operator=(const HostPool&) = delete;

    /// Returns null when the limit is reached; throws kf::DeviceError when the driver refuses.
    std::unique_ptr<Chunk> acquire();
    /// How many chunks acquire() would give now.
    [[nodiscard]] std::size_t available();
    [[nodiscard]] std::uint64_t chunk_size() const { return chunk_size_; }
    [[nodiscard]] std::size_t limit() const { return limit_; }  ///< chunks

private:
    void release(const Piece& piece);
    [[nodiscard]] VkDescriptorSet make_set(VkBuffer buffer) const;

    std::shared_ptr<Context> context_;
    Purpose purpose_;
    std::uint64_t chunk_size_;
    std::size_t limit_;
    std::mutex mutex_;
    std::size_t made_ = 0;
    std::vector<Piece> idle_;
    VkDescriptorPool sets_ = VK_NULL_HANDLE;  ///< for parameters
};

}  // namespace kf::vulkan
