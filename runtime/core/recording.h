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
    /// Returns the one that takes what the calling thread does; null for none. C++ records into encoders
    /// that it names; a language with blocks for it says here whose block the thread is in.
    using Find = Recording* (*)() noexcept;
    static void set_find(Find find);
    /// The calling thread's; null for none. Throws where a block is open that may not take what comes.
    static Recording* current();

    virtual ~Recording() = default;
    /// Throws ArgumentError (graph_context) where it is unknown whether what comes belongs to the block.
    virtual void check_place() const {}
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
    Unrecorded();
    ~Unrecorded();
    Unrecorded(const Unrecorded&) = delete;
    Unrecorded& operator=(const Unrecorded&) = delete;
};

/// Throws ArgumentError (graph_context) while the thread records. `what`: the operation, for the message.
void check_unrecorded(const char* what);
/// Why what only a recorded call writes isn't read.
inline constexpr const char* awaits_run_text =
    "only a recorded call writes to it, which hasn't run: replay() the graph, call the prepared call or "
    "submit() the encoder before";
/// Throws ArgumentError (graph_context) where nothing has written to the memory, or the image, but calls that
/// are recorded and haven't run, and while the thread records calls or fills that write to it.
void check_read(const char* what, const driver::Allocation& memory);
void check_read(const char* what, const driver::Image& image);

}  // namespace kf::detail
