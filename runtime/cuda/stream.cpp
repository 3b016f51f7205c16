// A CUDA stream, the device's own or the caller's.
#include "cuda/stream.h"

#include <chrono>
#include <optional>
#include <thread>

namespace kf::cuda {
namespace {

constexpr std::chrono::milliseconds patience{50};
constexpr std::chrono::microseconds pause{100};
/// The driver spins as well; of a longer wait a pause is a small part.
constexpr std::chrono::milliseconds spinning{2};

/// A point on a stream, from which one can ask whether its work until then is done.
class Mark {
public:
    Mark(const Context& context, CUstream stream) : context_(context) {
        context_.check(context_.cu.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
        const CUresult result = context_.cu.cuEventRecord(event_, stream);
        if (result == CUDA_SUCCESS) return;
        (void)context_.cu.cuEventDestroy_v2(event_);
        context_.check(result, "cuEventRecord");
    }
    ~Mark() { (void)context_.cu.cuEventDestroy_v2(event_); }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

    [[nodiscard]] CUresult query() const { return context_.cu.cuEventQuery(event_); }

private:
    const Context& context_;
    CUevent event_ = nullptr;
};

}  // namespace

Stream::Stream(std::shared_ptr<Context> context) : context_(std::move(context)) {
    context_->check(context_->cu.cuStreamCreate(&handle_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

Stream::Stream(std::shared_ptr<Context> context, CUstream handle, std::uint64_t id)
    : context_(std::move(context)), handle_(handle), id_(id), owned_(false) {}

Stream::~Stream() {
    if (!context_->process.is_here()) {
        return;
    }
    try {
        const Current current(*context_);
        if (event_ != nullptr) {
            (void)context_->cu.cuEventDestroy_v2(event_);
        }
        if (owned_) {
            (void)context_->cu.cuStreamDestroy_v2(handle_);
        }
    } catch (...) {  // a lost device, or the end of the process: nothing is left to destroy
    }
}

bool Stream::is_capturing() const {
    if (owned_) {
        return false;
    }
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    context_->check(context_->cu.cuStreamIsCapturing(handle_, &status), "cuStreamIsCapturing");
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void Stream::wait(void (*meanwhile)()) {
    const std::uint64_t issued = issued_.load(std::memory_order_acquire);
    wait_for_driver(meanwhile);
    std::uint64_t done = done_.load(std::memory_order_relaxed);
    while (done < issued && !done_.compare_exchange_weak(done, issued, std::memory_order_acq_rel)) {
    }
}

void Stream::wait_for_driver(void (*meanwhile)()) const {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    Clock::time_point asked = begin;
    // A busy stream may have done what is waited for: other threads may issue work for ever.
    std::optional<Mark> mark;
    while (meanwhile != nullptr) {
        const CUresult result = mark ? mark->query() : context_->cu.cuStreamQuery(handle_);
        if (result == CUDA_SUCCESS) return;
        // A call that fails here fails below, too, which says so.
        if (result != CUDA_ERROR_NOT_READY) break;
        const Clock::time_point now = Clock::now();
        if (now - asked >= patience) {
            meanwhile();
            asked = now;
        }
        if (now - begin >= spinning) {
            if (!mark) mark.emplace(*context_, handle_);
            std::this_thread::sleep_for(pause);
        }
    }
    context_->check(context_->cu.cuStreamSynchronize(handle_), "cuStreamSynchronize");
}

void Stream::record() {
    if (event_ == nullptr) {
        context_->check(context_->cu.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    }
    context_->check(context_->cu.cuEventRecord(event_, handle_), "cuEventRecord");
}

void Stream::mark() {
    if (!owned_) {
        record();
    }
}

void Stream::follow(Stream& other) {
    if (&other == this) {
        return;
    }
    if (other.owned_) {
        other.record();
    }
    if (other.event_ != nullptr) {
        context_->check(context_->cu.cuStreamWaitEvent(handle_, other.event_, 0), "cuStreamWaitEvent");
    }
}

void Stream::follow_default() {
    CUevent event = nullptr;
    context_->check(context_->cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    CUresult result = context_->cu.cuEventRecord(event, nullptr);
    if (result == CUDA_SUCCESS) {
        result = context_->cu.cuStreamWaitEvent(handle_, event, 0);
    }
    (void)context_->cu.cuEventDestroy_v2(event);  // which the wait outlives
    context_->check(result, "cuStreamWaitEvent");
}

}  // namespace kf::cuda
