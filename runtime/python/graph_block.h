// Which `with kf.Graph()` block a call is in.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "python/encoder.h"

namespace kf::python {

/// An open block. It takes what its thread does in its context, of contextvars: neither what other tasks of
/// asyncio do meanwhile, nor what Python runs by chance. Needs the GIL.
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
        chance,     ///< Python runs it when an object goes or a signal comes, wherever that happens
        reference,  ///< unclear: it may be the callback of a weak reference
        signal,     ///< unclear: it may be the handler of a signal
        suspended,  ///< a generator is that the block is in: its caller runs, in the context that both have
    };
    [[nodiscard]] Place place() const;

private:
    /// A generator or coroutine that nobody takes into the block with its callers.
    struct Suspendable {
        py::object generator;  ///< a weak reference to it
        py::object through;    ///< to what yields what it does, and is suspended with it; or null
    };

    std::shared_ptr<RecordedCalls> calls_;  ///< null once it is over
    unsigned long thread_;
    py::object context_;  ///< that it was opened in
    /// A frame that wasn't kept, as that would keep variables: another may have its address by now.
    struct Caller {
        PyObject* frame;
        py::object code;
        Py_ssize_t at;  ///< in the code, when the block was opened
    };
    [[nodiscard]] bool is_known(const py::object& frame) const;

    py::object opener_;                     ///< the frame of what opened it; null once it is over
    std::vector<Caller> callers_;           ///< of that, from within
    std::vector<Suspendable> suspendable_;  ///< of those
    py::object before_;                     ///< what the context had
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
