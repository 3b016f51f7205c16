// kf.Graph: calls that are recorded once and run often, as one; kf.Node: one of them.
#include <kf/graph.h>

#include <optional>
#include <string>
#include <utility>

#include "core/graph_state.h"
#include "python/arguments.h"
#include "python/encoder.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/graph_block.h"
#include "python/kept_values.h"
#include "python/prepared.h"
#include "python/stream.h"

namespace kf::python {
namespace {

/// Calls in its `with` block, then all of them together. Needs the GIL.
class RecordedGraph {
public:
    using PythonClass = RecordedGraph;

    explicit RecordedGraph(ContextPtr device)
        : calls_(std::make_shared<RecordedCalls>(std::move(device), RecordedCalls::Kept())) {}
    RecordedGraph(const RecordedGraph&) = delete;
    RecordedGraph& operator=(const RecordedGraph&) = delete;

    /// `self`: the Python object, which lives until it is left.
    void enter(const py::object& self) {
        if (state_ != State::fresh) refuse_state(state_ == State::open ? "is being recorded" : "is recorded");
        if (recording() != nullptr) {
            refuse(ErrorCode::graph_context, {"Graph", {}},
                   "this thread is recording another graph, and graphs hold calls and fills: end that one "
                   "first");
        }
        block_ = GraphBlock::open(calls_);
        self_ = self;
        state_ = State::open;
    }
    void leave(bool failed) {
        if (block_ == nullptr || !block_->is_open() || !block_->is_of_this_thread()) {
            refuse(ErrorCode::graph_context, {"Graph", {}},
                   "a with block ends in the thread that it began in");
        }
        block_->close();
        self_ = py::object();  // not the last reference: the caller has one
        state_ = failed ? State::failed : State::recorded;
    }
    void replay(py::handle stream) {
        check_recorded("replay");
        Graph* const graph = calls_->graph();
        if (graph == nullptr) return;  // no call
        std::optional<Device> on;
        if (!stream.is_none())
            on = Device(graph->state()->device()).with_stream(parse_stream(stream, {"Graph", "stream"}));
        const GilRelease release;
        on ? graph->replay(*on) : graph->replay();
    }
    void set(const py::object& values, const py::kwargs& named) {
        check_recorded("set");
        const KeptArguments given(py::tuple(), named);
        set_values("Graph", calls_->named(), values, given.view().keywords);
    }
    [[nodiscard]] std::size_t size() const { return calls_->named().size(); }
    [[nodiscard]] std::string text() const { return "<graph of " + std::to_string(size()) + " calls>"; }

private:
    enum class State : std::uint8_t { fresh, open, recorded, failed };

    void check_recorded(const char* what) {
        switch (state_) {
            case State::recorded: break;
            case State::fresh:
                refuse(ErrorCode::graph_context, {"Graph", {}},
                       std::string(what) + ": nothing is recorded yet: with kf.Graph() as g: …");
            case State::open: refuse_state("is being recorded: leave its with block first");
            case State::failed:
                refuse_state(
                    "holds nothing, since its with block ended with an exception: record another one");
        }
        if (recording() != nullptr) {
            refuse(
                ErrorCode::graph_context, {"Graph", {}},
                std::string(what) +
                    ": this thread is recording another graph, and graphs hold calls and fills: end that one "
                    "first");
        }
    }
    [[noreturn]] static void refuse_state(const std::string& what) {
        refuse(ErrorCode::graph_context, {"Graph", {}}, "the graph " + what);
    }

    std::shared_ptr<RecordedCalls> calls_;  ///< which a call that is under way has, too
    std::shared_ptr<GraphBlock> block_;     ///< null before it is entered
    State state_ = State::fresh;
    py::object self_;  ///< while it is open
};

/// Records one call of a function, whose values can then be set alone. Needs the GIL.
class Node {
public:
    using PythonClass = Node;

    explicit Node(py::object function) : function_(std::move(function)) {}

    py::object call(const py::args& arguments, const py::kwargs& keywords) {
        if (!named_.empty()) {
            refuse(ErrorCode::graph_context, {"Node", {}},
                   "the node has its call: node() of the function makes another one");
        }
        const std::shared_ptr<RecordedCalls> into = recording();
        if (into == nullptr) {
            refuse(ErrorCode::graph_context, {"Node", {}},
                   "a node is a call of a graph: call it in a with kf.Graph() block; prepare() is for calls "
                   "by themselves");
        }
        if (is_called_) {
            refuse(ErrorCode::graph_context, {"Node", {}},
                   "one of the arguments of the node's call calls the node, which has one call alone");
        }
        struct Called {
            ~Called() { is = false; }
            bool& is;
        } const called{is_called_ = true};
        const std::size_t before = into->named().size();
        py::object result = function_(*arguments, **keywords);
        if (into->named().size() == before) {
            refuse(ErrorCode::graph_context, {"Node", {}},
                   "nothing was recorded: say how many threads run, with threads(x, y, z) before node()");
        }
        named_.push_back(into->named().back());
        return result;
    }
    void set(const py::object& values, const py::kwargs& named) {
        if (named_.empty())
            refuse(ErrorCode::graph_context, {"Node", {}},
                   "set: the node has no call yet: call it in a graph");
        const KeptArguments given(py::tuple(), named);
        set_values("Node", named_, values, given.view().keywords);
    }
    [[nodiscard]] std::string text() const { return "<node of " + std::string(py::repr(function_)) + ">"; }

private:
    py::object function_;
    std::vector<NamedCall> named_;  ///< at most one
    bool is_called_ = false;        ///< its call is being made
};

}  // namespace

py::object make_node(py::object function) { return py::cast(Node(std::move(function))); }

void bind_graph(py::module_& module) {
    py::class_<RecordedGraph>(module, "Graph",
                              "Calls that are recorded once and run often, as one: with kf.Graph() as g: "
                              "records those in its block, "
                              "and none of them runs. replay() is thread-safe.")
        .def(py::init([](const py::object& device) {
                 return std::make_unique<RecordedGraph>(
                     device.is_none() ? nullptr : context_of(device, {"Graph", "device"}));
             }),
             py::arg("device") = py::none(), "On the first call's device where `device` isn't given.")
        .def("__enter__",
             [](const py::object& self) {
                 py::cast<RecordedGraph&>(self).enter(self);
                 return self;
             })
        .def("__exit__", [](RecordedGraph& self, const py::object& kind, const py::object&,
                            const py::object&) { self.leave(!kind.is_none()); })
        .def("replay", &RecordedGraph::replay, py::kw_only(), py::arg("stream") = py::none(),
             "Runs all calls, after all that was issued before; on a CUDA stream of yours where that is "
             "given.")
        .def("set", &RecordedGraph::set, py::arg("values") = py::none(), py::pos_only(),
             "Sets values for later replays, in every call that has one of that name: set(a=2), "
             "set({\"ray.t\": 2}).")
        .def("__len__", &RecordedGraph::size)
        .def("__repr__", &RecordedGraph::text);
    py::class_<Node>(
        module, "Node",
        "One call of a graph: calling it in a with kf.Graph() block records it, and set() is for "
        "its values alone.")
        .def("__call__", &Node::call, "Records the call: what the function takes, and what it returns.")
        .def("set", &Node::set, py::arg("values") = py::none(), py::pos_only(),
             "Sets values of this call for later replays: set(a=2), set({\"ray.t\": 2}).")
        .def("__repr__", &Node::text);
}

}  // namespace kf::python
