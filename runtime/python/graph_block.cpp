// Which `with kf.Graph()` block a call is in.
#include "python/graph_block.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "python/attributes.h"
#include "python/errors.h"
#include "python/interruptions.h"

namespace kf::python {
namespace {

using BlockPointer = std::shared_ptr<GraphBlock>;

/// How many blocks are open, in all threads: mostly none, and then nothing is looked for. A call without the
/// lock may ask, of a thread that has none.
std::atomic<int>& open_blocks() {
    static std::atomic<int> count = 0;
    return count;
}

PyObject* variable() {
    static PyObject* known = nullptr;
    return context_variable(known, "kernelfunctions.graph");
}

void set_variable(py::handle value) {
    PyObject* const token = PyContextVar_Set(variable(), value.ptr());
    if (token == nullptr) throw py::error_already_set();
    Py_DECREF(token);
}

/// Contexts that were copied in a block outlive it, so that they hold no more than this.
py::object context_value() {
    PyObject* value = nullptr;
    if (PyContextVar_Get(variable(), Py_None, &value) < 0) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(value);
}

const GraphBlock* block_of(py::handle value) {
    return PyCapsule_CheckExact(value.ptr()) == 0
               ? nullptr
               : static_cast<BlockPointer*>(PyCapsule_GetPointer(value.ptr(), nullptr))->get();
}

/// The interpreter's, which copies of it, of tasks for example, are not.
py::object running_context() { return py::reinterpret_borrow<py::object>(PyThreadState_Get()->context); }

/// @contextlib.contextmanager takes the body of its with statement into a generator's blocks.
bool is_context_manager(const py::object& caller) {
    static PyObject* enter = nullptr;
    static PyObject* enter_async = nullptr;
    if (!caller) return false;
    const py::object code = code_of(caller);
    return code.is(code_of_method(enter, "contextlib", "_GeneratorContextManager", "__enter__")) ||
           code.is(code_of_method(enter_async, "contextlib", "_AsyncGeneratorContextManager", "__aenter__"));
}

bool has_flags(const py::object& frame, int flags) {
    const py::object code = code_of(frame);
    return (reinterpret_cast<PyCodeObject*>(code.ptr())->co_flags & flags) != 0;
}

constexpr int generators = CO_GENERATOR | CO_ITERABLE_COROUTINE;

/// Why it can't be told whether a call is meant for the block.
const char* reason(GraphBlock::Place place) {
    switch (place) {
        case GraphBlock::Place::reference:
            return "a function that was given a weak reference to an object that is gone does this, and it "
                   "can't be told whether the block calls it or the reference does, as its callback: let a "
                   "weakref.finalize() do it, which runs at once, or give the function something else";
        case GraphBlock::Place::signal:
            return "a function that handles a signal does this, and it can't be told whether the block calls "
                   "it or the signal does: keep the frame that the handler is given, and it runs at once, or "
                   "let the block call another function";
        default:
            return "a generator or coroutine that is suspended has an open block, and it can't be told "
                   "whether what its caller does is meant for the graph: end the block before yield or "
                   "await, or make the generator a @contextlib.contextmanager";
    }
}

/// In place of a block that a call may be meant for or not: only reads can't be.
class UnclearBlock final : public detail::Recording {
public:
    explicit UnclearBlock(GraphBlock::Place place) : place_(place) {}
    void check_place() const override { fail(place_); }
    detail::KeptCalls& kept_on(const std::shared_ptr<detail::DeviceState>& /*device*/) override {
        fail(place_);
    }
    const detail::KeptCalls* kept() override { return nullptr; }

    [[noreturn]] static void fail(GraphBlock::Place place) {
        refuse(ErrorCode::graph_context, {"Graph", {}}, reason(place));
    }

private:
    GraphBlock::Place place_;
};

struct Found {
    const GraphBlock* block = nullptr;  ///< null for none
    GraphBlock::Place place = GraphBlock::Place::inside;
};

Found find_block() noexcept {
    if (open_blocks().load(std::memory_order_relaxed) == 0) return {};
    const py::error_scope kept;  // of a finalizer's caller
    const GraphBlock* block = nullptr;
    try {
        block = block_of(context_value());
        if (block == nullptr || !block->is_open() || !block->is_of_this_thread()) return {};
        const GraphBlock::Place place = block->place();
        if (place == GraphBlock::Place::chance) return {};
        return {block, place};
    } catch (const py::error_already_set&) {  // out of memory: most calls are the block's
        return {block, GraphBlock::Place::inside};
    }
}

detail::Recording* find_recording() noexcept {
    static UnclearBlock suspended(GraphBlock::Place::suspended);
    static UnclearBlock reference(GraphBlock::Place::reference);
    static UnclearBlock signal(GraphBlock::Place::signal);
    const Found found = find_block();
    switch (found.place) {
        case GraphBlock::Place::suspended: return &suspended;
        case GraphBlock::Place::reference: return &reference;
        case GraphBlock::Place::signal: return &signal;
        default: return found.block == nullptr ? nullptr : found.block->calls().get();
    }
}

/// The thread's, while a BlockWithoutLock lives.
std::optional<detail::Recording*>& known_recording() {
    static thread_local std::optional<detail::Recording*> known;
    return known;
}

detail::Recording* find_in_any_case() noexcept {
    if (known_recording()) return *known_recording();
    return open_blocks() == 0 || PyGILState_Check() == 0 ? nullptr : find_recording();
}

}  // namespace

GraphBlock::GraphBlock(std::shared_ptr<RecordedCalls> calls)
    : calls_(std::move(calls)), thread_(PyThread_get_thread_ident()), before_(context_value()) {
    for (py::object frame = running_frame(); frame;) {
        py::object caller = caller_of(frame);
        const bool may_yield = has_flags(frame, generators | CO_ASYNC_GENERATOR | CO_COROUTINE);
        if (may_yield && !is_context_manager(caller)) {
            const bool hands_on = has_flags(frame, generators) && caller && delegates(caller);
            suspendable_.push_back(
                {reference_to_generator(frame), hands_on ? reference_to_generator(caller) : py::object()});
        }
        if (opener_) {
            callers_.push_back({frame.ptr(), code_of(frame), place_in_code(frame)});
        } else {
            opener_ = frame;
        }
        frame = std::move(caller);
    }
}

std::shared_ptr<GraphBlock> GraphBlock::open(std::shared_ptr<RecordedCalls> calls) {
    detail::Recording::set_find(&find_in_any_case);
    auto made = std::make_shared<GraphBlock>(std::move(calls));
    set_variable(
        py::capsule(new BlockPointer(made), [](void* kept) { delete static_cast<BlockPointer*>(kept); }));
    made->context_ = running_context();
    ++open_blocks();
    return made;
}

void GraphBlock::close() {
    if (!is_open()) return;
    --open_blocks();
    calls_->end();
    calls_ = nullptr;
    context_ = py::object();
    opener_ = py::object();
    callers_.clear();
    suspendable_.clear();
    const py::object before = std::exchange(before_, py::object());
    // In another context than it was opened in, its own value stays, and is nothing any more.
    if (block_of(context_value()) == this) set_variable(before);
}

/// A frame's caller stands where it stood as long as the frame is the same.
bool GraphBlock::is_known(const py::object& frame) const {
    if (frame.is(opener_)) return true;
    const auto one = std::ranges::find(callers_, frame.ptr(), &Caller::frame);
    if (one == callers_.end() || !one->code.is(code_of(frame))) return false;
    const py::object caller = caller_of(frame);
    const auto next = one + 1;
    if (!caller || next == callers_.end()) return !caller && next == callers_.end();
    return next->frame == caller.ptr() && next->at == place_in_code(caller);
}

GraphBlock::Place GraphBlock::place() const {
    Place unclear = Place::inside;
    SignalHandlers handlers;
    py::object frame = running_frame();
    // A break or an assignment ends a generator that nothing else holds, as the code around it says.
    bool ends_generator = false;
    constexpr int any_generator = generators | CO_ASYNC_GENERATOR | CO_COROUTINE;
    for (; frame; ends_generator = has_flags(frame, any_generator), frame = caller_of(frame)) {
        if (!ends_generator && is_interrupted(frame)) return Place::chance;
        if (is_known(frame)) break;
        switch (cause_of(frame, handlers)) {
            case Cause::call: break;
            case Cause::chance: return Place::chance;
            case Cause::reference: unclear = Place::reference; break;
            case Cause::signal: unclear = Place::signal; break;
        }
    }
    if (unclear != Place::inside || suspendable_.empty()) return unclear;
    std::vector<py::object> running;
    for (frame = running_frame(); frame; frame = caller_of(frame)) running.push_back(frame);
    const bool is_own_context = running_context().is(context_);
    const auto runs = [&](const py::object& one) {
        return std::ranges::any_of(running, [&](const py::object& other) { return one.is(other); });
    };
    const bool is_suspended = std::ranges::any_of(suspendable_, [&](const Suspendable& one) {
        const py::object own = frame_of_generator(one.generator);
        if (!own || runs(own)) return false;
        if (one.through && !runs(frame_of_generator(one.through))) return false;
        return !has_flags(own, CO_COROUTINE) || is_own_context;
    });
    return is_suspended ? Place::suspended : Place::inside;
}

std::shared_ptr<RecordedCalls> recording() {
    const Found found = find_block();
    if (found.place != GraphBlock::Place::inside) UnclearBlock::fail(found.place);
    return found.block == nullptr ? nullptr : found.block->calls();
}

BlockWithoutLock::BlockWithoutLock() noexcept : before_(std::exchange(known_recording(), find_recording())) {}
BlockWithoutLock::~BlockWithoutLock() { known_recording() = before_; }

}  // namespace kf::python
