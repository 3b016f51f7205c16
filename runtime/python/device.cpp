// kf.Device, kf.devices() and the default device.

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include <kf/vulkan.h>

#include "core/device_state.h"
#include "python/context.h"
#include "python/encoder.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/stream.h"

namespace kf::python {
namespace {

/// Python's set_device() is a setting of the process; close_default() empties it at exit, so that devices
/// close while the interpreter still runs. What is opened after that stays open: by the time that a static's
/// destructor runs, the drivers and layers that it would call may be gone. Guarded by the GIL.
ContextPtr& default_slot() {
    static ContextPtr& context = *new ContextPtr;
    return context;
}

/// Whether the program ends by Ctrl-C: devices then stay open, as work may be on its way to them for long.
/// Guarded by the GIL.
bool& ends_by_interrupt() {
    static bool ends = false;
    return ends;
}

/// The devices that tensors of other libraries were on, by CUDA's number, of those in the host's memory under
/// -1; opened once, and kept as the default one is. Guarded by the GIL.
std::map<int, ContextPtr>& other_slots() {
    static std::map<int, ContextPtr>& contexts = *new std::map<int, ContextPtr>;
    return contexts;
}

/// Closes the default device, once it is done, at the interpreter's exit. Ctrl-C ends that wait, too.
void close_default() {
    std::vector<ContextPtr> last{std::exchange(default_slot(), nullptr)};
    for (auto& [ordinal, context] : std::exchange(other_slots(), {})) last.push_back(std::move(context));
    const py::object kind = py::getattr(py::module_::import("sys"), "last_type", py::none());
    ends_by_interrupt() = kind.ptr() == PyExc_KeyboardInterrupt;
    if (ends_by_interrupt()) return;
    try {
        const GilRelease release;
        for (const ContextPtr& context : last) {
            if (context) context->device().wait();
        }
    } catch (const Error&) {  // of a lost device, or a forked process
    } catch (const py::error_already_set&) {
        ends_by_interrupt() = true;
        throw;
    }
}

ContextPtr open(const std::string& name) {
    Device device;
    {
        const GilRelease release;
        device = name.empty() ? Device::open() : Device::open(name);
    }
    device.state()->driver().while_waiting = &check_signals;
    device.show_lines(&show_line);
    return std::make_shared<Context>(std::move(device));
}

/// A handle that Vulkan's bindings give as an int.
template <class Handle>
Handle* vulkan_handle(const py::handle& value, const Where& where) {
    void* const handle = PyLong_Check(value.ptr()) != 0 && PyBool_Check(value.ptr()) == 0
                             ? PyLong_AsVoidPtr(value.ptr())
                             : nullptr;
    if (PyErr_Occurred() != nullptr) PyErr_Clear();
    if (handle == nullptr) {
        refuse(ErrorCode::type_mismatch, where, "a Vulkan handle is needed, an int, not " + shown(value));
    }
    return static_cast<Handle*>(handle);
}

ContextPtr adopted(const py::object& instance, const py::object& physical_device, const py::object& device,
                   const py::object& queue, std::uint32_t queue_family, const std::vector<Text>& features,
                   const py::object& owner) {
    VulkanHandles handles;
    handles.instance = vulkan_handle<VkInstance_T>(instance, {"adopt", "instance"});
    handles.physical_device =
        vulkan_handle<VkPhysicalDevice_T>(physical_device, {"adopt", "physical_device"});
    handles.device = vulkan_handle<VkDevice_T>(device, {"adopt", "device"});
    handles.queue = vulkan_handle<VkQueue_T>(queue, {"adopt", "queue"});
    handles.queue_family = queue_family;
    for (const Text& feature : features) handles.features.push_back(feature.value);
    if (!owner.is_none()) handles.owner = shared_owner(owner);
    Device made;
    {
        const GilRelease release;
        made = adopt(handles);
    }
    made.state()->driver().while_waiting = &check_signals;
    made.show_lines(&show_line);
    return std::make_shared<Context>(std::move(made));
}

RecordedCalls encoder(const py::object& self, const py::object& stream, const py::object& command_buffer) {
    const ContextPtr context = context_of(self, {"encoder", "device"});
    if (!stream.is_none() && !command_buffer.is_none()) {
        refuse(ErrorCode::type_mismatch, {"encoder", {}},
               "stream= is for CUDA devices, command_buffer= for Vulkan's: give one of them");
    }
    if (!command_buffer.is_none()) {
        auto* const commands =
            vulkan_handle<VkCommandBuffer_T>(command_buffer, {"encoder", "command_buffer"});
        return {context, CommandBufferEncoder(context->device(), commands)};
    }
    if (stream.is_none()) return {context, context->device().encoder()};
    return {context, context->device().with_stream(parse_stream(stream, {"encoder", "stream"})).encoder()};
}

void set_check(const Context& self, const std::optional<Text>& check) {
    if (check && check->value != "nan") {
        refuse(ErrorCode::unknown_name, {"check", {}},
               "'" + check->value + "' is no check: there are \"nan\" and None");
    }
    self.device().set_check(check ? Check::nan : Check::nothing);
}

std::string device_text(const DeviceInfo& info) {
    return "DeviceInfo(id='" + info.id + "', name='" + info.name + "', driver='" + info.driver + "')";
}

}  // namespace

Context::Context(Device device) : device_(std::move(device)) {
    static std::atomic<std::uint64_t> made = 0;
    number_ = ++made;
}

Context::~Context() {
    if (ends_by_interrupt()) (void)new Device(device_);
}

Module Context::module(const std::shared_ptr<const Artifact>& artifact) {
    (void)device_.state()->driver();  // refuses forked processes, where the mutex may be held for ever
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
        if (const auto found = modules_.find(artifact); found != modules_.end()) return found->second.module;
    }
    const GilRelease release;
    const std::scoped_lock lock(mutex_);
    const auto found = modules_.find(artifact);
    if (found != modules_.end()) return found->second.module;
    std::erase_if(modules_, [](const auto& entry) { return entry.first.expired(); });
    Module module = detail::load_module(device_, artifact->loaded());
    artifact->add_user(shared_from_this());
    modules_.emplace(artifact, Loaded{module, {}});
    return module;
}

void Context::drop_modules() {
    std::vector<Loaded> dropped;  // once the lock is let go of
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    std::erase_if(modules_, [&](auto& entry) {
        if (!entry.first.expired()) return false;
        dropped.push_back(std::move(entry.second));
        return true;
    });
}

Artifact::~Artifact() {
    for (const std::weak_ptr<Context>& user : users_) {
        if (const ContextPtr context = user.lock()) context->drop_modules();
    }
}

void Artifact::add_user(const std::shared_ptr<Context>& context) const {
    const std::lock_guard lock(mutex_);
    users_.emplace_back(context);
}

const Device& Context::on_stream(void* stream) {
    const bool is_known = on_stream_ && on_stream_.state()->driver().is_on_stream(stream);
    if (!is_known) on_stream_ = device_.with_stream(stream);
    return on_stream_;
}

const detail::FunctionRef& Context::function(const std::shared_ptr<const Artifact>& artifact,
                                             std::size_t index) {
    Module loaded = module(artifact);
    const GilRelease release;
    const std::scoped_lock lock(mutex_);
    return modules_.at(artifact)
        .functions.try_emplace(index, detail::FunctionRef{loaded.state(), index})
        .first->second;
}

ContextPtr default_context() {
    if (!default_slot()) {
        const ContextPtr opened = open({});
        // Opening lets other threads run: the first device stays.
        if (!default_slot()) default_slot() = opened;
    }
    return default_slot();
}

ContextPtr cuda_context(int ordinal) {
    const auto is_it = [ordinal](const ContextPtr& context) {
        const DeviceInfo& info = context->device().info();
        return info.backend == "cuda" && info.index == ordinal;
    };
    if (default_slot() && is_it(default_slot())) return default_slot();
    if (const auto found = other_slots().find(ordinal); found != other_slots().end()) return found->second;
    const ContextPtr opened = open("cuda:" + std::to_string(ordinal));
    // Opening lets other threads run: the first device stays.
    return other_slots().try_emplace(ordinal, opened).first->second;
}

ContextPtr host_context() {
    constexpr int host = -1;
    ContextPtr usual = default_context();
    if (usual->device().info().backend == "vulkan") return usual;
    if (const auto found = other_slots().find(host); found != other_slots().end()) return found->second;
    std::vector<DeviceInfo> all;
    {
        const GilRelease release;
        all = devices();
    }
    std::erase_if(all, [](const DeviceInfo& info) { return info.backend != "vulkan"; });
    if (all.empty()) return usual;
    std::stable_partition(all.begin(), all.end(), [](const DeviceInfo& info) { return info.is_cpu; });
    return other_slots().try_emplace(host, open(all.front().id)).first->second;
}

ContextPtr context_of(py::handle device, const Where& where) {
    if (device.is_none()) return default_context();
    if (!py::isinstance<Context>(device)) {
        refuse(ErrorCode::type_mismatch, where, "device= takes a kf.Device, not " + shown(device));
    }
    (void)py::cast<const Context&>(device);  // refuses what holds none
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
        .def("__repr__", &device_text);

    py::class_<Context, ContextPtr>(
        module, "Device",
        "An open device. Thread-safe; closed when the last tensor, encoder and name of it is gone.")
        .def_static(
            "open", [](const std::optional<Text>& name) { return open(name.value_or(Text()).value); },
            py::arg("name") = py::none(),
            "Opens \"cuda:0\", \"vulkan\", \"vulkan:1\", \"vulkan:llvmpipe\"; None: the best there is.")
        .def_property_readonly("info", [](const Context& self) { return self.device().info(); })
        .def_property_readonly("name", [](const Context& self) { return self.device().info().name; })
        .def_property_readonly("backend", [](const Context& self) { return self.device().info().backend; })
        .def_static("adopt", &adopted, py::kw_only(), py::arg("instance"), py::arg("physical_device"),
                    py::arg("device"), py::arg("queue"), py::arg("queue_family") = 0,
                    py::arg("features") = py::list(), py::arg("owner") = py::none(),
                    "Runs on a Vulkan device of yours, whose handles are given as ints. `features` are the "
                    "words of what it was made with (none: all that there is), `owner` is kept with it.")
        .def("encoder", &encoder, py::kw_only(), py::arg("stream") = py::none(),
             py::arg("command_buffer") = py::none(),
             "A list of calls to record with append_to() and run with submit(), on a CUDA stream of yours "
             "where `stream` is given. `command_buffer`, the handle of a VkCommandBuffer that you are "
             "recording and submit yourself, takes the calls as they come, up to finish().")
        .def(
            "flush", [](const Context& self) { self.device().flush(); }, py::call_guard<GilRelease>(),
            "Hands what was issued to the GPU, without waiting.")
        .def(
            "wait", [](const Context& self) { self.device().wait(); }, py::call_guard<GilRelease>(),
            "Waits for all that was issued. Writes what kernels printed to sys.stdout, and raises Error "
            "(assertion-failed, index-out-of-range) for what else they reported; so does what reads results.")
        .def_property(
            "check",
            [](const Context& self) -> std::optional<std::string> {
                if (self.device().check() == Check::nothing) return std::nullopt;
                return "nan";
            },
            &set_check,
            "What is looked for in each call: None, or \"nan\", a NaN or an infinity that a call makes of "
            "finite "
            "numbers; kf.Error names that call then. KF_CHECK=nan says it when a device is opened.")
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
        "devices", [] { return devices(); }, py::call_guard<GilRelease>(),
        "Every device of every driver on this machine; empty where there is no driver.");
    module.def(
        "set_device",
        [](const py::object& device) {
            if (device.is_none()) {
                default_slot().reset();
            } else if (py::isinstance<py::str>(device)) {
                default_slot() = open(std::string(utf8_of(device)));
            } else {
                default_slot() = context_of(device, {"set_device", "device"});
            }
        },
        py::arg("device"), "Makes a device the default; None goes back to KF_DEVICE or the best there is.");
    module.def("default_device", &default_context,
               "The device that set_device() named, else KF_DEVICE's, else the best there is; opened once.");
    py::module_::import("atexit").attr("register")(py::cpp_function(&close_default));
}

}  // namespace kf::python
