// kf.Encoder: calls recorded for one device and run together.
#include "python/encoder.h"

#include "core/encoder_state.h"
#include "core/graph_state.h"
#include "python/errors.h"
#include "python/gil.h"

namespace kf::python {

void RecordedCalls::check_open() {
    if (is_over_) {
        refuse(ErrorCode::graph_context, {"Graph", {}},
               "the graph's block has ended while a call was being made: nothing is added to it");
    }
    if (!std::holds_alternative<Kept>(encoder_)) (void)encoder().state();
}

EncoderUse::EncoderUse(RecordedCalls* calls) : calls_(calls) {
    if (calls == nullptr) return;
    calls->check_open();
    if (calls->is_in_use_) {
        refuse(ErrorCode::encoder_submitted, {"Encoder", {}},
               "another thread, or what a signal interrupted, is recording into it or submitting it: an "
               "encoder is for one at a time");
    }
    calls->is_in_use_ = true;
}

void RecordedCalls::name(std::shared_ptr<const FunctionInfo> info) {
    named_.push_back({graph()->state()->calls().back(), std::move(info)});
}

detail::KeptCalls& RecordedCalls::kept_on(const std::shared_ptr<detail::DeviceState>& device) {
    open(Device(device));
    if (!device->is_same(*graph()->state()->device())) {
        throw ArgumentError(ErrorCode::device_mismatch, "fill: the tensor is on " + device->info().id +
                                                            ", the graph on " +
                                                            graph()->state()->device()->info().id);
    }
    return *detail::kept_calls(encoder().state());
}

const detail::KeptCalls* RecordedCalls::kept() {
    return graph() == nullptr ? nullptr : detail::kept_calls(encoder().state());
}

namespace {

void submit(RecordedCalls& self) {
    const EncoderUse use(&self);
    const GilRelease release;
    self.encoder().submit();
}

RecordedCommandBuffer finish(RecordedCalls& self) {
    CommandBufferEncoder* const encoder = self.command_buffer();
    if (encoder == nullptr) {
        refuse(ErrorCode::type_mismatch, {"finish", {}},
               "this encoder is ended with submit(); finish() is for those that "
               "device.encoder(command_buffer=...) makes");
    }
    const EncoderUse use(&self);
    const GilRelease release;
    return {self.context(), encoder->finish()};
}

/// Ends a with statement: what was finished in it already stays as it is.
void leave(RecordedCalls& self, const py::object& kind, const py::object&, const py::object&) {
    const bool is_finished = self.command_buffer() != nullptr && !self.encoder().is_open();
    if (kind.is_none() && !is_finished) submit(self);
}

}  // namespace

void bind_encoder(py::module_& module) {
    py::class_<RecordedCalls>(module, "Encoder",
                              "Calls recorded for one device and run together, in order. Not thread-safe.")
        .def("submit", &submit, "Runs what was recorded, once; using the encoder afterwards is an error.")
        .def("finish", &finish,
             "Ends calls that were recorded into a command buffer of yours, which stays open; release() of "
             "the "
             "result says when it is done.")
        .def_property_readonly("device", [](const RecordedCalls& self) { return self.context(); })
        .def("__enter__",
             [](const py::object& self) {
                 (void)py::cast<RecordedCalls&>(self);  // refuses what holds none
                 return self;
             })
        .def("__exit__", &leave, py::arg("kind"), py::arg("error"), py::arg("trace"));
    py::class_<RecordedCommandBuffer>(module, "RecordedCommands",
                                      "Calls in a command buffer of yours. What they use is kept until "
                                      "release(), or until the device closes.")
        .def(
            "release", [](RecordedCommandBuffer& self) { self.commands.release(); },
            py::call_guard<GilRelease>(),
            "Says that the command buffer is done, and won't be submitted again.");
}

}  // namespace kf::python
