// kf.profile(): how long calls take on the GPU.
#include <optional>
#include <utility>

#include <kf/profile.h>

#include "python/context.h"
#include "python/errors.h"
#include "python/gil.h"

namespace kf::python {
namespace {

struct TimedCall {
    using PythonClass = TimedCall;

    ProfiledCall call;
};

/// What Python holds: a profile that begins when its block is entered.
struct BlockProfile {
    using PythonClass = BlockProfile;

    ContextPtr context;
    std::optional<std::string> trace;
    bool shows = true;
    std::optional<Profile> profile;
};

Profile& begun(BlockProfile& self) {
    if (!self.profile) {
        refuse(ErrorCode::profile_context, {"profile", {}}, "it hasn't begun: with kf.profile() as p: ...");
    }
    return *self.profile;
}

BlockProfile make_profile(const py::object& device, const std::optional<py::object>& trace, bool show) {
    std::optional<std::string> path;
    if (trace) path = path_of(*trace, {"profile", "trace"});
    return {context_of(device, {"profile", "device"}), std::move(path), show, std::nullopt};
}

void enter(BlockProfile& self) {
    if (self.profile)
        refuse(ErrorCode::profile_context, {"profile", {}}, "it was begun already: make another one");
    const GilRelease release;
    self.profile.emplace(self.context->device());
}

py::list calls_of(BlockProfile& self) {
    py::list calls;
    for (const ProfiledCall& call : begun(self).calls()) calls.append(py::cast(TimedCall{call}));
    return calls;
}

/// The table is shown, and the trace written, where the block ends as it should.
void exit(BlockProfile& self, const py::object& type, const py::object& /*value*/,
          const py::object& /*trace*/) {
    {
        const GilRelease release;
        Profile& profile = begun(self);
        profile.stop();
        if (self.trace && type.is_none()) profile.write_trace(*self.trace);
    }
    if (self.shows && type.is_none()) py::print(begun(self).table(), py::arg("end") = "");
}

}  // namespace

void bind_profile(py::module_& module) {
    py::class_<TimedCall>(module, "ProfiledCall", "One call of a profile.")
        .def_property_readonly("function", [](const TimedCall& self) { return self.call.function; })
        .def_property_readonly(
            "pass_", [](const TimedCall& self) { return self.call.pass; },
            "\"forward\", \"backward\", \"fused\" or \"jvp\".")
        .def_property_readonly(
            "start", [](const TimedCall& self) { return self.call.start; },
            "Seconds since the profile began.")
        .def_property_readonly(
            "duration", [](const TimedCall& self) { return self.call.duration; }, "Seconds on the GPU.")
        .def_property_readonly(
            "bytes", [](const TimedCall& self) { return self.call.bytes; }, "That it reads and writes.")
        .def("__repr__", [](const TimedCall& self) {
            const ProfiledCall& call = self.call;
            return "ProfiledCall('" + call.function + "', '" + call.pass + "', " +
                   std::string(py::str(py::float_(call.duration))) + " s, " + std::to_string(call.bytes) +
                   " bytes)";
        });
    py::class_<BlockProfile>(module, "Profile", "What kf.profile() returns.")
        .def("__enter__",
             [](const py::object& self) {
                 enter(py::cast<BlockProfile&>(self));
                 return self;
             })
        .def("__exit__", &exit)
        .def_property_readonly("calls", &calls_of,
                               "The calls, in the order in which they were made; ends the profile.")
        .def(
            "table", [](BlockProfile& self) { return begun(self).table(); },
            "A line for each function and pass: calls, time, bytes, bytes a second.")
        .def(
            "write_trace",
            [](BlockProfile& self, const py::object& path) {
                begun(self).write_trace(path_of(path, {"write_trace", "path"}));
            },
            py::arg("path"), "Writes a file that Chrome (about:tracing) and Perfetto show.")
        .def("__str__", [](BlockProfile& self) { return begun(self).table(); });
    module.def(
        "profile", &make_profile, py::arg("device") = py::none(), py::kw_only(),
        py::arg("trace") = py::none(), py::arg("show") = true,
        "Times the calls of its `with` block on the GPU, and prints a table of them at the end unless "
        "show=False. `device`: None for the default one. `trace`: a file to write for Chrome or Perfetto.");
}

}  // namespace kf::python
