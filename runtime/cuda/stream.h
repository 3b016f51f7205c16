// A CUDA stream, the device's own or the caller's, and the event that shows how far it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cuda/context.h"

namespace kf::cuda {

/// All members need the context to be current. One thread at a time calls mark() and follow().
class Stream {
public:
    /// A stream of our own, which doesn't wait for the legacy default stream.
    explicit Stream(std::shared_ptr<Context> context);
    /// The caller's. Its handle is used while a call on it runs and never later: it may be destroyed when
    /// the calls on it have returned, even while memory that they used lives on.
    Stream(std::shared_ptr<Context> context, CUstream handle, std::uint64_t id);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    [[nodiscard]] CUstream handle() const { return handle_; }
    [[nodiscard]] std::uint64_t id() const { return id_; }  ///< unlike handles, never used again
    [[nodiscard]] bool owned() const { return owned_; }

    /// Whether it is being captured into a graph. Our own never is.
    [[nodiscard]] bool is_capturing() const;
    /// Waits for all that was issued on it. `meanwhile`, unless it is null, is called at least every 50 ms,
    /// and may throw.
    void wait(void (*meanwhile)());
    /// Counts something that was issued on it, and returns its number.
    std::uint64_t count() { return issued_.fetch_add(1, std::memory_order_acq_rel) + 1; }
    /// The number up to which all that was counted is done, as far as a wait has shown.
    [[nodiscard]] std::uint64_t done() const { return done_.load(std::memory_order_acquire); }
    /// Records where the caller's stream is now; our own stream is recorded when somebody follows it.
    void mark();
    /// Lets what comes next on this stream wait for what was issued on `other` up to its mark.
    void follow(Stream& other);
    /// Lets it wait for what the default stream has now, and with that all streams that block on that one.
    void follow_default();

private:
    void record();
    void wait_for_driver(void (*meanwhile)()) const;

    std::shared_ptr<Context> context_;
    CUstream handle_ = nullptr;
    std::uint64_t id_ = 0;
    bool owned_ = true;
    CUevent event_ = nullptr;  ///< made when first needed
    std::atomic<std::uint64_t> issued_ = 0;
    std::atomic<std::uint64_t> done_ = 0;
};

}  // namespace kf::cuda
