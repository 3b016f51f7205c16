// kf::Graph: calls that are recorded once and run often, as one.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <kf/device.h>
#include <kf/encoder.h>
#include <kf/error.h>
#include <kf/prepared.h>

namespace kf {
namespace detail {

class GraphState;
void set_value(GraphState& graph, std::string_view name, const NewValue& value);

}  // namespace detail

/// A handle over calls that run together, in order where one needs what another wrote: one CUDA graph, or one
/// Vulkan command buffer. Record them with append_to(graph.encoder(), …), all of them before the first
/// replay(). It owns the memory that they need. Recording is for one thread; replay() and set() are
/// thread-safe.
class Graph {
public:
    explicit Graph(const Device& device);

    /// Records the graph's calls, until the first replay. Their tensors and shapes are fixed then.
    [[nodiscard]] Encoder& encoder();
    /// The call that was recorded last, to set only its values.
    [[nodiscard]] PreparedCall node() const;
    /// Number of recorded calls.
    [[nodiscard]] std::size_t size() const;

    /// Runs all calls, after all that was issued before.
    void replay();
    /// Runs them on a stream: `device` is the graph's device, from Device::with_stream(). On one that is
    /// captured it throws DeviceError (stream_captured).
    void replay(const Device& device);
    Result<void> try_replay() {
        return attempt([&] { replay(); });
    }

    /// Sets a value for later replays in every call that has one of that name; see PreparedCall::set().
    template <class T>
    void set(std::string_view name, const T& value) {
        detail::set_value(*state(), name, detail::NewValue::of(value));
    }
    template <class T>
    Result<void> try_set(std::string_view name, const T& value) {
        return attempt([&] { set(name, value); });
    }

    /// Returns the state, for the runtime itself. Throws ArgumentError (missing_argument) for a graph that
    /// was moved from, as all else does.
    [[nodiscard]] const std::shared_ptr<detail::GraphState>& state() const {
        if (state_ == nullptr) detail::throw_null("the graph");
        return state_;
    }

private:
    std::shared_ptr<detail::GraphState> state_;
};

}  // namespace kf
