// Which `with kf.Graph()` block a call is in.
#include "python/graph_block.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "python/attributes.h"
#include "python/errors.h"

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

py::object code_of(PyFrameObject* frame) {
    return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
}

py::object caller_of(PyFrameObject* frame) {
    return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame)));
}

PyFrameObject* as_frame(const py::object& frame) { return reinterpret_cast<PyFrameObject*>(frame.ptr()); }

py::object running_frame() {
    return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
}

/// A method's code, by which frames that run it are known.
py::handle code_of_method(PyObject*& known, const char* module, const char* type, const char* method) {
    return found_once(known, [&] {
        return py::object(py::module_::import(module).attr(type).attr(method).attr("__code__"));
    });
}

bool is_finalizer(const py::object& code) {
    static PyObject* finalize = nullptr;
    static PyObject* const name = PyUnicode_InternFromString("__del__");
    return reinterpret_cast<PyCodeObject*>(code.ptr())->co_name == name ||
           code.is(code_of_method(finalize, "weakref", "finalize", "__call__"));
}

/// @contextlib.contextmanager takes the body of its with statement into a generator's blocks.
bool is_context_manager(const py::object& caller) {
    static PyObject* enter = nullptr;
    static PyObject* enter_async = nullptr;
    if (!caller) return false;
    const py::object code = code_of(as_frame(caller));
    return code.is(code_of_method(enter, "contextlib", "_GeneratorContextManager", "__enter__")) ||
           code.is(code_of_method(enter_async, "contextlib", "_AsyncGeneratorContextManager", "__aenter__"));
}

bool is_generator(const py::object& frame) {
    constexpr int generators = CO_GENERATOR | CO_ITERABLE_COROUTINE | CO_ASYNC_GENERATOR;
    const py::object code = code_of(as_frame(frame));
    return (reinterpret_cast<PyCodeObject*>(code.ptr())->co_flags & generators) != 0;
}

/// Whether a generator that doesn't run goes on later.
bool has_not_ended([[maybe_unused]] const py::object& frame) {
#if PY_VERSION_HEX >= 0x030B0000
    return static_cast<bool>(py::reinterpret_steal<py::object>(PyFrame_GetGenerator(as_frame(frame))));
#else
    return true;
#endif
}

/// In place of a block whose generator is suspended: only reads can't be meant for it.
class SuspendedBlock final : public detail::Recording {
public:
    void check_place() const override { fail(); }
    detail::KeptCalls& kept_on(const std::shared_ptr<detail::DeviceState>& /*device*/) override { fail(); }
    const detail::KeptCalls* kept() override { return nullptr; }

    [[noreturn]] static void fail() {
        refuse(
            ErrorCode::graph_context, {"Graph", {}},
            "a generator that is suspended has an open block, and it can't be told whether what its caller "
            "does is meant for the graph: end the block before yield, or make the generator a "
            "@contextlib.contextmanager");
    }
};

struct Found {
    const GraphBlock* block = nullptr;  ///< null for none
    bool is_suspended = false;
};

Found find_block() noexcept {
    if (open_blocks().load(std::memory_order_relaxed) == 0) return {};
    const py::error_scope kept;  // of a finalizer's caller
    try {
        const GraphBlock* const block = block_of(context_value());
        if (block == nullptr || !block->is_open() || !block->is_of_this_thread()) return {};
        const GraphBlock::Place place = block->place();
        if (place == GraphBlock::Place::finalizer) return {};
        return {block, place == GraphBlock::Place::suspended};
    } catch (const py::error_already_set&) {  // out of memory
        return {};
    }
}

detail::Recording* find_recording() noexcept {
    static SuspendedBlock suspended;
    const Found found = find_block();
    if (found.is_suspended) return &suspended;
    return found.block == nullptr ? nullptr : found.block->calls().get();
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
    : calls_(std::move(calls)),
      thread_(PyThread_get_thread_ident()),
      frame_(running_frame()),
      before_(context_value()) {
    for (py::object frame = frame_; frame;) {
        py::object caller = caller_of(as_frame(frame));
        if (is_generator(frame) && !is_context_manager(caller)) generators_.push_back(frame);
        frame = std::move(caller);
    }
}

std::shared_ptr<GraphBlock> GraphBlock::open(std::shared_ptr<RecordedCalls> calls) {
    detail::Recording::set_find(&find_in_any_case);
    auto made = std::make_shared<GraphBlock>(std::move(calls));
    set_variable(
        py::capsule(new BlockPointer(made), [](void* kept) { delete static_cast<BlockPointer*>(kept); }));
    ++open_blocks();
    return made;
}

void GraphBlock::close() {
    if (!is_open()) return;
    --open_blocks();
    calls_->end();
    calls_ = nullptr;
    frame_ = py::object();
    generators_.clear();
    const py::object before = std::exchange(before_, py::object());
    // In another context than it was opened in, its own value stays, and is nothing any more.
    if (block_of(context_value()) == this) set_variable(before);
}

GraphBlock::Place GraphBlock::place() const {
    bool is_inside = false;
    std::vector<py::object> missing = generators_;
    for (py::object frame = running_frame(); frame; frame = caller_of(as_frame(frame))) {
        is_inside = is_inside || frame.is(frame_);
        std::erase_if(missing, [&](const py::object& one) { return one.is(frame); });
        if (is_inside && missing.empty()) return Place::inside;
        if (!is_inside && is_finalizer(code_of(as_frame(frame)))) return Place::finalizer;
    }
    return std::ranges::any_of(missing, has_not_ended) ? Place::suspended : Place::inside;
}

std::shared_ptr<RecordedCalls> recording() {
    const Found found = find_block();
    if (found.is_suspended) SuspendedBlock::fail();
    return found.block == nullptr ? nullptr : found.block->calls();
}

BlockWithoutLock::BlockWithoutLock() noexcept : before_(std::exchange(known_recording(), find_recording())) {}
BlockWithoutLock::~BlockWithoutLock() { known_recording() = before_; }

}  // namespace kf::python
