// kf.Encoder: calls recorded for one device and run together, or into a command buffer of the caller's.
#pragma once

#include <kf/encoder.h>
#include <kf/graph.h>
#include <kf/vulkan.h>

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "core/recording.h"
#include "python/context.h"

namespace kf::python {

struct FunctionInfo;

/// A call that is kept to run often, and the function whose names it has.
struct NamedCall {
    std::shared_ptr<detail::KeptCall> call;
    std::shared_ptr<const FunctionInfo> info;
};

class RecordedCalls final : public detail::Recording {
public:
    using PythonClass = RecordedCalls;
    /// Keeps its calls, for a graph or a prepared call.
    struct Kept {};

    RecordedCalls(ContextPtr owner, Encoder encoder)
        : context_(std::move(owner)), encoder_(std::move(encoder)) {}
    RecordedCalls(ContextPtr owner, CommandBufferEncoder encoder)
        : context_(std::move(owner)), encoder_(std::move(encoder)) {}

    /// `owner`: null where the first call says which device it is.
    RecordedCalls(ContextPtr owner, Kept kept) : context_(std::move(owner)), encoder_(kept) {
        if (context_ != nullptr) open(context_);
    }

    /// Null where no call or `owner` has said it yet.
    [[nodiscard]] const ContextPtr& context() const { return context_; }
    [[nodiscard]] Encoder& encoder() {
        if (auto* graph = std::get_if<Graph>(&encoder_)) return graph->encoder();
        if (auto* finished = std::get_if<CommandBufferEncoder>(&encoder_)) return *finished;
        return std::get<Encoder>(encoder_);
    }
    /// Makes the graph that calls are kept in, where there is none yet.
    void open(const ContextPtr& context) {
        if (context_ == nullptr) context_ = context;
        open(context->device());
    }
    detail::KeptCalls& kept_on(const std::shared_ptr<detail::DeviceState>& device) override;
    [[nodiscard]] const detail::KeptCalls* kept() override;
    /// Refuses one that is over.
    void check_open();
    /// Refuses all that comes.
    void end() { is_over_ = true; }
    [[nodiscard]] bool is_in_use() const { return is_in_use_; }
    [[nodiscard]] bool keeps() const {
        return std::holds_alternative<Kept>(encoder_) || std::holds_alternative<Graph>(encoder_);
    }
    /// Null unless it keeps calls and has one.
    [[nodiscard]] Graph* graph() { return std::get_if<Graph>(&encoder_); }
    /// Names the call that was recorded last.
    void name(std::shared_ptr<const FunctionInfo> info);
    [[nodiscard]] const std::vector<NamedCall>& named() const { return named_; }
    /// Why what a call writes must be a tensor.
    [[nodiscard]] const char* writes_later() const {
        return keeps() ? "a prepared call writes whenever it runs"
                       : "a recorded call writes when the encoder is submitted";
    }
    /// Null for an encoder that submit() ends.
    [[nodiscard]] CommandBufferEncoder* command_buffer() {
        return std::get_if<CommandBufferEncoder>(&encoder_);
    }

private:
    friend class EncoderUse;

    void open(const Device& device) {
        if (std::holds_alternative<Kept>(encoder_)) encoder_ = Graph(device);
    }

    ContextPtr context_;
    std::variant<Encoder, CommandBufferEncoder, Kept, Graph> encoder_;
    std::vector<NamedCall> named_;
    bool is_over_ = false;
    bool is_in_use_ = false;
};

/// While it lives, an encoder is one thread's alone, which may let go of Python's lock. Needs the lock at
/// both ends.
class EncoderUse {
public:
    /// Refuses one that is over, or in use. Null for none.
    explicit EncoderUse(RecordedCalls* calls);
    ~EncoderUse() {
        if (calls_ != nullptr) calls_->is_in_use_ = false;
    }
    EncoderUse(const EncoderUse&) = delete;
    EncoderUse& operator=(const EncoderUse&) = delete;

private:
    RecordedCalls* calls_;
};

/// What a finished encoder put into a command buffer of the caller's.
struct RecordedCommandBuffer {
    using PythonClass = RecordedCommandBuffer;

    ContextPtr context;
    RecordedCommands commands;
};

}  // namespace kf::python
