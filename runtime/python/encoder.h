// kf.Encoder: calls recorded for one device and run together.
#pragma once

#include <kf/encoder.h>

#include <utility>

#include "python/context.h"

namespace kf::python {

class RecordedCalls {
public:
    using PythonClass = RecordedCalls;

    explicit RecordedCalls(ContextPtr owner)
        : context_(std::move(owner)), encoder_(context_->device().encoder()) {}
    RecordedCalls(ContextPtr owner, Encoder encoder)
        : context_(std::move(owner)), encoder_(std::move(encoder)) {}

    [[nodiscard]] const ContextPtr& context() const { return context_; }
    [[nodiscard]] Encoder& encoder() { return encoder_; }

private:
    ContextPtr context_;
    Encoder encoder_;
};

}  // namespace kf::python
