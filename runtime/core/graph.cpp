// Graphs: calls that are recorded once and run often.
#include <kf/graph.h>

#include "core/encoder_state.h"
#include "core/graph_state.h"

namespace kf {
namespace detail {

GraphState::GraphState(const std::shared_ptr<DeviceState>& device)
    : device_(device), encoder_(keeping_encoder(device)), kept_(*kept_calls(encoder_.state())) {}

void GraphState::close() {
    if (recorder_ == nullptr) recorder_ = std::move(encoder_.state().recorder);
}

void GraphState::build(driver::Device& driver) {
    std::unique_ptr<driver::Graph> graph = driver.make_graph();
    std::vector<Node> nodes;
    std::size_t dispatches = 0;
    const auto add_call = [&](KeptCall& call) {
        // Before its commands: what is set meanwhile comes with the next update.
        const std::uint64_t version = call.version();
        const std::uint64_t resources = call.resources_version();
        if (graph) call.append_to(*graph);
        dispatches += call.dispatches();
        nodes.push_back({dispatches - 1, version, resources});
    };
    kept_.visit(add_call, [&](const CommandLog& log) {
        if (graph) log.replay(*graph);
        dispatches += log.dispatches();
    });
    nodes_ = std::move(nodes);
    graph_ = std::move(graph);
    is_built_ = true;
}

bool GraphState::update() {
    for (std::size_t i = 0; i < calls().size(); ++i) {
        KeptCall& call = *calls()[i];
        const std::uint64_t version = call.version();
        if (version == nodes_[i].version) continue;
        bool has_resources = true;
        call.read_block([&](std::span<const std::byte> block) {
            has_resources = call.resources_version() == nodes_[i].resources;
            if (has_resources) graph_->set_block(nodes_[i].dispatch, block);
        });
        if (!has_resources) return false;
        nodes_[i].version = version;
    }
    return true;
}

void GraphState::replay(const DeviceState& on) {
    driver::Device& driver = on.driver();
    if (!on.is_same(*device_)) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            "graph: the stream is of another device than the graph");
    }
    driver.check_replay();
    driver.admit();
    const std::lock_guard lock(mutex_);
    close();
    const Observers* const observers = on.observers();
    const bool is_one_by_one = observers != nullptr && observers->is_of_each_call();
    if (!is_built_ && !is_one_by_one) build(driver);
    if (graph_ == nullptr || is_one_by_one) {
        kept_.visit([&](KeptCall& call) { call.run(on); }, [&](const CommandLog& log) { log.run(driver); });
        return;
    }
    if (!update()) build(driver);
    const std::string label = "graph of " + std::to_string(calls().size()) + " calls";
    const NvtxRange range(observers == nullptr ? nullptr : observers->nvtx(), label.c_str());
    const auto launching = on.launching();
    driver.replay(*graph_);
}

void fail_unknown_value(const GraphState& graph, std::string_view name) {
    std::string known;
    for (const std::shared_ptr<KeptCall>& call : graph.calls())
        known += "\n  " + call->function().name + ": " + call->settable_text();
    throw ArgumentError(ErrorCode::unknown_name, "graph: set: no call has a value '" + std::string(name) +
                                                     "'; its calls have:" + known);
}

}  // namespace detail

Graph::Graph(const Device& device) : state_(std::make_shared<detail::GraphState>(device.state())) {}

Encoder& Graph::encoder() { return state()->encoder(); }

PreparedCall Graph::node() const {
    if (state()->calls().empty())
        throw ArgumentError(ErrorCode::missing_argument, "graph: node: no call is recorded yet");
    return PreparedCall(state()->calls().back());
}

std::size_t Graph::size() const { return state()->calls().size(); }

void Graph::replay() { state()->replay(*state()->device()); }

void Graph::replay(const Device& device) { state()->replay(*device.state()); }

}  // namespace kf
