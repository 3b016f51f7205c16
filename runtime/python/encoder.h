// kf.Encoder: calls recorded for one device and run together, or into a command buffer of the caller's.
#pragma once

#include <kf/encoder.h>
#include <kf/vulkan.h>

#include <utility>
#include <variant>

#include "python/context.h"

namespace kf::python {

class RecordedCalls {
public:
    using PythonClass = RecordedCalls;

    RecordedCalls(ContextPtr owner, Encoder encoder)
        : context_(std::move(owner)), encoder_(std::move(encoder)) {}
    RecordedCalls(ContextPtr owner, CommandBufferEncoder encoder)
        : context_(std::move(owner)), encoder_(std::move(encoder)) {}

    [[nodiscard]] const ContextPtr& context() const { return context_; }
    [[nodiscard]] Encoder& encoder() {
        return std::visit([](auto& encoder) -> Encoder& { return encoder; }, encoder_);
    }
    /// Null for an encoder that submit() ends.
    [[nodiscard]] CommandBufferEncoder* command_buffer() {
        return std::get_if<CommandBufferEncoder>(&encoder_);
    }

private:
    ContextPtr context_;
    std::variant<Encoder, CommandBufferEncoder> encoder_;
};

/// What a finished encoder put into a command buffer of the caller's.
struct RecordedCommandBuffer {
    using PythonClass = RecordedCommandBuffer;

    ContextPtr context;
    RecordedCommands commands;
};

}  // namespace kf::python
