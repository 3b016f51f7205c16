// What a graph holds: its calls, and what the driver made of them.
#pragma once

#include <kf/encoder.h>
#include <kf/prepared.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/device_state.h"
#include "core/kept_call.h"

namespace kf::detail {

/// Recorded by one thread, then run by any.
class GraphState {
public:
    explicit GraphState(const std::shared_ptr<DeviceState>& device);

    [[nodiscard]] Encoder& encoder() { return encoder_; }
    /// All calls, in order.
    [[nodiscard]] const std::vector<std::shared_ptr<KeptCall>>& calls() const { return kept_.calls(); }
    [[nodiscard]] const std::shared_ptr<DeviceState>& device() const { return device_; }

    /// Ends the recording, where that isn't over, and runs all calls on the device, on whatever stream.
    void replay(const DeviceState& on);

private:
    struct Node {
        std::size_t dispatch = 0;     ///< its own one's number in `graph_`
        std::uint64_t version = 0;    ///< of the values that the driver's graph has
        std::uint64_t resources = 0;  ///< the same of textures and samplers
    };

    void close();
    void build(driver::Device& driver);
    /// Brings the driver's graph up to date, but for textures and samplers: returns false where others were
    /// set, since which calls wait for which follows from those.
    [[nodiscard]] bool update();

    std::shared_ptr<DeviceState> device_;
    Encoder encoder_;
    KeptCalls& kept_;  ///< the encoder's recorder, or `recorder_`
    std::mutex mutex_;
    std::unique_ptr<driver::Recorder> recorder_;  ///< once it is closed
    std::vector<Node> nodes_;                     ///< of each call, once it is built
    std::unique_ptr<driver::Graph> graph_;        ///< null until it is built, or where drivers have none
    bool is_built_ = false;
};

/// Throws ArgumentError (unknown_name) that lists what can be set.
[[noreturn]] void fail_unknown_value(const GraphState& graph, std::string_view name);

}  // namespace kf::detail
