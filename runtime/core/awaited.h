// Memory that nothing has written to yet, as the call that does is recorded and hasn't run.
#pragma once

#include <atomic>
#include <memory>

namespace kf::driver {

/// A base of what a recorded call may make: what is read of it before the call runs is nobody's. Thread-safe.
class Awaited {
public:
    Awaited() = default;
    ~Awaited() { note_written(); }
    Awaited(const Awaited&) = delete;
    Awaited& operator=(const Awaited&) = delete;

    [[nodiscard]] bool awaits_run() const noexcept { return awaits_.load(std::memory_order_relaxed); }
    void await_run() noexcept {
        if (!awaits_.exchange(true)) ++count();
    }
    void note_written() noexcept {
        if (awaits_run() && awaits_.exchange(false)) --count();
    }
    /// Whether there is anything to look for, which calls ask often.
    [[nodiscard]] static bool is_any() noexcept { return count().load(std::memory_order_relaxed) > 0; }

private:
    static std::atomic<int>& count() noexcept {
        static std::atomic<int> awaiting = 0;
        return awaiting;
    }

    std::atomic<bool> awaits_ = false;
};

}  // namespace kf::driver
