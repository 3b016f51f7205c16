// kf.Encoder: calls recorded for one device and run together.
#include "python/encoder.h"
#include "python/gil.h"

namespace kf::python {
namespace {

void submit(RecordedCalls& self) {
    const GilRelease release;
    self.encoder().submit();
}

}  // namespace

void bind_encoder(py::module_& module) {
    py::class_<RecordedCalls>(module, "Encoder",
                              "Calls recorded for one device and run together, in order. Not thread-safe.")
        .def("submit", &submit, "Runs what was recorded, once; using the encoder afterwards is an error.")
        .def_property_readonly("device", [](const RecordedCalls& self) { return self.context(); })
        .def("__enter__",
             [](const py::object& self) {
                 (void)py::cast<RecordedCalls&>(self);  // refuses what holds none
                 return self;
             })
        .def(
            "__exit__",
            [](RecordedCalls& self, const py::object& kind, const py::object&, const py::object&) {
                if (kind.is_none()) submit(self);
            },
            py::arg("kind"), py::arg("error"), py::arg("trace"));
}

}  // namespace kf::python
