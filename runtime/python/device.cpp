// kf.Device, kf.devices() and the default device.
#include <pybind11/stl.h>

#include "python/context.h"
#include "python/encoder.h"
#include "python/errors.h"

namespace kf::python {
namespace {

/// Python's set_device() is a setting of the process; the module's `_release` (run at exit) empties it, so
/// that devices close while the interpreter still runs. Guarded by the GIL.
ContextPtr& default_slot() {
    static ContextPtr context;
    return context;
}

ContextPtr open(const std::string& name) {
    Device device;
    {
        const py::gil_scoped_release release;
        device = name.empty() ? Device::open() : Device::open(name);
    }
    return std::make_shared<Context>(std::move(device));
}

std::string describe(const DeviceInfo& info) {
    return "DeviceInfo(id='" + info.id + "', name='" + info.name + "', driver='" + info.driver + "')";
}

}  // namespace

Module Context::module(const std::shared_ptr<const Artifact>& artifact) {
    const std::scoped_lock lock(mutex_);
    const auto found = modules_.find(artifact);
    if (found != modules_.end()) return found->second;
    std::erase_if(modules_, [](const auto& entry) { return entry.first.expired(); });
    Module module = Module::load(device_, artifact->bytes);
    modules_.emplace(artifact, module);
    return module;
}

ContextPtr default_context() {
    if (!default_slot()) {
        const ContextPtr opened = open({});
        // Opening lets other threads run: the first device stays.
        if (!default_slot()) default_slot() = opened;
    }
    return default_slot();
}

ContextPtr context_of(py::handle device, const Where& where) {
    if (device.is_none()) return default_context();
    if (!py::isinstance<Context>(device)) {
        refuse(ErrorCode::type_mismatch, where, "device= takes a kf.Device, not " + shown(device));
    }
    return py::cast<ContextPtr>(device);
}

void bind_device(py::module_& module) {
    py::class_<DeviceInfo>(module, "DeviceInfo",
                           "What a device says of itself. Open it with Device.open(info.id).")
        .def_readonly("id", &DeviceInfo::id, "What Device.open() takes: \"vulkan:0\".")
        .def_readonly("backend", &DeviceInfo::backend)
        .def_readonly("index", &DeviceInfo::index)
        .def_readonly("name", &DeviceInfo::name)
        .def_readonly("driver", &DeviceInfo::driver)
        .def_readonly("is_cpu", &DeviceInfo::is_cpu)
        .def_readonly("memory", &DeviceInfo::memory, "Bytes.")
        .def_readonly("features", &DeviceInfo::features)
        .def("__repr__", &describe);

    py::class_<Context, ContextPtr>(
        module, "Device",
        "An open device. Thread-safe; closed when the last tensor, encoder and name of it is gone.")
        .def_static(
            "open", [](const std::optional<std::string>& name) { return open(name.value_or(std::string())); },
            py::arg("name") = py::none(),
            "Opens \"cuda:0\", \"vulkan\", \"vulkan:1\", \"vulkan:llvmpipe\"; None: the best there is.")
        .def_property_readonly("info", [](const Context& self) { return self.device().info(); })
        .def_property_readonly("name", [](const Context& self) { return self.device().info().name; })
        .def_property_readonly("backend", [](const Context& self) { return self.device().info().backend; })
        .def(
            "encoder", [](const ContextPtr& self) { return RecordedCalls(self); },
            "A list of calls to record with append_to() and run with submit().")
        .def(
            "flush", [](const Context& self) { self.device().flush(); },
            py::call_guard<py::gil_scoped_release>(), "Hands what was issued to the GPU, without waiting.")
        .def(
            "wait", [](const Context& self) { self.device().wait(); },
            py::call_guard<py::gil_scoped_release>(), "Waits for all that was issued.")
        .def("__eq__",
             [](const Context& self, const py::object& other) {
                 return py::isinstance<Context>(other) &&
                        self.device() == py::cast<const Context&>(other).device();
             })
        .def("__hash__",
             [](const Context& self) { return std::hash<const void*>()(self.device().state().get()); })
        .def("__repr__", [](const Context& self) {
            return "Device('" + self.device().info().id + "', name='" + self.device().info().name + "')";
        });

    module.def(
        "devices", [] { return devices(); }, py::call_guard<py::gil_scoped_release>(),
        "Every device of every driver on this machine; empty where there is no driver.");
    module.def(
        "set_device",
        [](const py::object& device) {
            if (device.is_none()) {
                default_slot().reset();
            } else if (py::isinstance<py::str>(device)) {
                default_slot() = open(py::cast<std::string>(device));
            } else {
                default_slot() = context_of(device, {"set_device", "device"});
            }
        },
        py::arg("device"), "Makes a device the default; None goes back to KF_DEVICE or the best there is.");
    module.def("default_device", &default_context,
               "The device that set_device() named, else KF_DEVICE's, else the best there is; opened once.");
    py::module_::import("atexit").attr("register")(py::cpp_function([] { default_slot().reset(); }));
}

}  // namespace kf::python
