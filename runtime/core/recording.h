// What becomes of what a thread does with memory while it records a graph.
#pragma once

#include <memory>

#include "core/device_state.h"

namespace kf::detail {

class KeptCalls;

/// A graph that a thread records: its calls and fills are kept there. All else that would change memory is
/// refused, as it would happen once and not in each replay, and so is reading what calls haven't written yet.
class Recording {
public:
    /// The calling thread's; null for none.
    static Recording*& current();

    virtual ~Recording() = default;
    /// Where commands on the device are kept. Throws ArgumentError (device_mismatch) where the graph is
    /// another device's.
    virtual KeptCalls& kept_on(const std::shared_ptr<DeviceState>& device) = 0;
    /// What has been kept; null for nothing.
    [[nodiscard]] virtual const KeptCalls* kept() = 0;

protected:
    Recording() = default;
    Recording(const Recording&) = default;
    Recording& operator=(const Recording&) = default;
    Recording(Recording&&) = default;
    Recording& operator=(Recording&&) = default;
};

/// While it lives, the thread records nothing: for what runs at once in any case.
class Unrecorded {
public:
    Unrecorded() : before_(Recording::current()) { Recording::current() = nullptr; }
    ~Unrecorded() { Recording::current() = before_; }
    Unrecorded(const Unrecorded&) = delete;
    Unrecorded& operator=(const Unrecorded&) = delete;

private:
    Recording* before_;
};

/// Throws ArgumentError (graph_context) while the thread records. `what`: the operation, for the message.
void check_unrecorded(const char* what);
/// Throws ArgumentError (graph_context) while the thread records calls or fills that write the memory, or the
/// image.
void check_read(const char* what, const driver::Allocation& memory);
void check_read(const char* what, const driver::Image& image);

}  // namespace kf::detail
