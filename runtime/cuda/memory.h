// Device memory: one pool, from which streams take and to which they return in their own order.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/driver.h"
#include "cuda/free_blocks.h"
#include "cuda/hazards.h"
#include "cuda/mapped_pool.h"
#include "cuda/stream.h"

namespace kf::cuda {

class Memory;

/// Comes back to the pool, or to whose it is, when the last owner lets go, ordered after all streams that
/// used it.
class CudaAllocation final : public driver::Allocation {
public:
    CudaAllocation(std::shared_ptr<Memory> memory, std::shared_ptr<Stream> maker);
    ~CudaAllocation() override;

    [[nodiscard]] const Context* context() const;

    // How much was issued that uses mapped memory, and how much of it has been waited for.
    [[nodiscard]] std::uint64_t issued() const { return issued_.load(std::memory_order_acquire); }
    void note_done(std::uint64_t issued) { done_.store(issued, std::memory_order_release); }
    /// Whether no command uses mapped memory any more, as far as waits have shown.
    [[nodiscard]] bool is_idle() const;

private:
    friend class Memory;
    std::shared_ptr<Memory> memory_;
    Hazards hazards_;
    std::size_t size_class_ = 0;  ///< of mapped memory
    std::atomic<std::uint64_t> issued_ = 0;
    std::atomic<std::uint64_t> done_ = 0;
    std::atomic<std::uint64_t> last_on_own_ = 0;   ///< as the device's own stream counts
    std::atomic<bool> on_others_ = false;          ///< used on other streams, too
    std::atomic<bool> is_used_by_others_ = false;  ///< on streams that we don't hear of
    bool lent_ = false;                            ///< a graph returns it, or somebody else does
    std::shared_ptr<void> owner_;                  ///< of somebody else's memory
};

/// The device's pool, which keeps what is returned until memory runs short. Thread-safe.
class Memory : public std::enable_shared_from_this<Memory> {
public:
    /// `own`: the device's stream, on which memory is returned.
    Memory(std::shared_ptr<Context> context, std::shared_ptr<Stream> own);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// The rest needs the context to be current. Throws kf::DeviceError: stream_captured while `stream` is
    /// captured; out_of_memory with the sizes once what is unused was given back in vain.
    std::shared_ptr<CudaAllocation> take(std::uint64_t size, const std::shared_ptr<Stream>& stream);
    /// Memory for one call, kept for the next one: it may be larger. While `stream` is captured, what the
    /// last call kept goes to the graph, which keeps it as long as it lives; nothing is allocated then.
    std::shared_ptr<CudaAllocation> take_scratch(std::uint64_t size, const std::shared_ptr<Stream>& stream);
    /// Like take_scratch(), with zeros, for a call that leaves zeros; null for more than driver::most_zeros.
    std::shared_ptr<CudaAllocation> take_zeros(std::uint64_t size, const std::shared_ptr<Stream>& stream);

    /// Pinned host memory, where kernels find it; null for more than driver::most_mapped, while `stream` is
    /// captured, and where the pool has no more. For the device's own stream the
    /// context needn't be current.
    std::shared_ptr<CudaAllocation> take_mapped(std::uint64_t size, const std::shared_ptr<Stream>& stream);

    /// Wraps somebody else's memory in the state that it has when `stream` comes here.
    std::shared_ptr<CudaAllocation> wrap(driver::ForeignMemory memory, const std::shared_ptr<Stream>& stream);
    /// Makes a stand-in for what commands use that has no address: it keeps `owner`, whose own address
    /// identifies it, until no command needs it.
    std::shared_ptr<CudaAllocation> stand_in(std::shared_ptr<void> owner,
                                             const std::shared_ptr<Stream>& stream);
    /// Gives back to the driver what nobody uses, and waits until it is free.
    void give_unused();
    /// Lets `stream` follow what was issued with the memory, and frees that once the default stream, too, is
    /// done with it.
    void lend(driver::Allocation& memory, Stream& stream);
    /// Lets go of the owners of memory that was wrapped and that no command needs any more.
    void release_owners();

    /// Says that memory is used on several streams from now on, so that order() does something.
    void expect_streams() { streams_.store(true, std::memory_order_relaxed); }
    /// Runs `issue`, which enqueues on `stream` what uses this memory, after other streams' uses of it.
    template <class Issue>
    void order(std::span<const driver::Use> uses, const std::shared_ptr<Stream>& stream, Issue issue);

    /// Lets go of what is kept between calls, which keeps this alive in turn.
    void close();

    struct Usage {
        std::uint64_t reserved = 0;  ///< bytes taken from the driver
        std::uint64_t used = 0;      ///< bytes handed out
    };
    /// Gives back what is kept for others to take, and waits until it is free.
    [[nodiscard]] Usage usage() const;

private:
    friend class CudaAllocation;
    /// Addresses that destroyed graphs left; CUDA can't be called where that is noticed.
    struct Left {
        std::mutex mutex;
        std::vector<CUdeviceptr> addresses;
    };
    struct LeftByGraph {
        std::shared_ptr<Left> left;
        CUdeviceptr address = 0;
    };
    /// The owner of memory that was wrapped, until the commands before the event are done.
    struct Leaving {
        CUevent event = nullptr;
        std::shared_ptr<void> owner;
    };
    /// Memory that calls share, one after the other.
    struct Kept {
        std::shared_ptr<CudaAllocation> memory;
        // The part that a graph which is being captured has got.
        std::uint64_t capture = 0;
        const Stream* stream = nullptr;
        std::shared_ptr<CudaAllocation> captured;
    };

    /// Whether a use has to be put in order with others here.
    static bool is_ordered_here(const driver::Use& use) {
        return use.allocation != nullptr && !use.allocation->is_in_order;
    }
    static bool are_ordered_here(std::span<const driver::Use> uses) {
        for (const driver::Use& use : uses) {
            if (is_ordered_here(use)) return true;
        }
        return false;
    }
    void before(std::span<const driver::Use> uses, Stream& stream) const;
    void after(std::span<const driver::Use> uses, const std::shared_ptr<Stream>& stream) const;
    [[nodiscard]] CUresult allocate(CUdeviceptr& address, std::uint64_t size, const Stream& stream);
    [[noreturn]] void fail_out_of_memory(std::uint64_t size) const;
    void give(CudaAllocation& allocation);
    void give_mapped(CudaAllocation& allocation);
    void leave(CudaAllocation& allocation);
    /// Lets our own stream follow all that may still use the memory. With the lock.
    void follow_users(const CudaAllocation& allocation) const;
    /// Records that commands which use mapped memory were issued.
    static void count(std::span<const driver::Use> uses, Stream& stream) {
        for (const driver::Use& use : uses) {
            if (use.allocation != nullptr && use.allocation->host != nullptr)
                count(static_cast<CudaAllocation&>(*use.allocation), stream);
        }
    }
    static void count(CudaAllocation& allocation, Stream& stream);
    void give_left();
    /// Returns whether there were any; they are free once the device's own stream is there.
    bool give_free_blocks() const;
    /// Returns null where a call has the memory, or where it is smaller.
    std::shared_ptr<CudaAllocation> find_kept(Kept& kept, std::uint64_t size);
    std::shared_ptr<CudaAllocation> take_captured(Kept& kept, std::uint64_t size, const Stream& stream);

    std::shared_ptr<Context> context_;
    std::shared_ptr<Stream> own_;
    CUmemoryPool pool_ = nullptr;
    mutable FreeBlocks free_;
    MappedPool mapped_;
    std::atomic<bool> streams_ = false;
    std::shared_ptr<Left> left_ = std::make_shared<Left>();

    mutable std::mutex order_mutex_;  ///< of all hazards and marks
    std::mutex kept_mutex_;           ///< taken before order_mutex_
    Kept scratch_;
    Kept zeros_;
    std::mutex leaving_mutex_;
    std::vector<Leaving> leaving_;
};

template <class Issue>
void Memory::order(std::span<const driver::Use> uses, const std::shared_ptr<Stream>& stream, Issue issue) {
    // A graph's uses happen when it runs: their order is up to who launches it.
    if (!streams_.load(std::memory_order_relaxed) || !are_ordered_here(uses) || stream->is_capturing()) {
        issue();
        count(uses, *stream);
        return;
    }
    const std::lock_guard lock(order_mutex_);
    before(uses, *stream);
    issue();
    count(uses, *stream);
    after(uses, stream);
}

}  // namespace kf::cuda
