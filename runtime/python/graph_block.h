// Which `with kf.Graph()` block a call is in.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "python/encoder.h"

namespace kf::python {

/// An open block. It takes what its thread does in its context, of contextvars: neither what other tasks of
/// asyncio do meanwhile, nor finalizers. Needs the GIL.
class GraphBlock {
public:
    explicit GraphBlock(std::shared_ptr<RecordedCalls> calls);
    /// Opened by the Python code that runs, from whose place in the stack it is told what is in the block.
    static std::shared_ptr<GraphBlock> open(std::shared_ptr<RecordedCalls> calls);
    /// Calls that are under way are refused. Does nothing the second time.
    void close();

    [[nodiscard]] bool is_open() const { return calls_ != nullptr; }
    [[nodiscard]] bool is_of_this_thread() const { return thread_ == PyThread_get_thread_ident(); }
    [[nodiscard]] const std::shared_ptr<RecordedCalls>& calls() const { return calls_; }

    enum class Place : std::uint8_t {
        inside,
        finalizer,  ///< what Python runs when an object goes, wherever that happens
        suspended,  ///< a generator is that the block is in: its caller runs, in the context that both have
    };
    [[nodiscard]] Place place() const;

private:
    std::shared_ptr<RecordedCalls> calls_;  ///< null once it is over
    unsigned long thread_;
    py::object frame_;  ///< of the code that opened it; null once it is over
    /// It and its callers, as far as they are generators that nobody takes into the block with their callers.
    std::vector<py::object> generators_;
    py::object before_;  ///< what the context had
};

/// What records the calls of this thread instead of running them: of a `with kf.Graph()` block. Null for
/// none. Throws where the block's generator is suspended. Needs the GIL.
[[nodiscard]] std::shared_ptr<RecordedCalls> recording();

/// While it lives, the thread has no lock to ask for its block with: it is asked before.
class BlockWithoutLock {
public:
    BlockWithoutLock() noexcept;
    ~BlockWithoutLock();
    BlockWithoutLock(const BlockWithoutLock&) = delete;
    BlockWithoutLock& operator=(const BlockWithoutLock&) = delete;

private:
    std::optional<detail::Recording*> before_;
};

}  // namespace kf::python
