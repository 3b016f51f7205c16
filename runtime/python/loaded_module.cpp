// kf.Module: an artifact's functions.
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/artifact.h"
#include "core/items.h"
#include "core/join.h"
#include "python/errors.h"
#include "python/function_types.h"
#include "python/gil.h"

namespace kf::python {
namespace {

class LoadedModule {
public:
    using PythonClass = LoadedModule;

    explicit LoadedModule(std::shared_ptr<const Artifact> artifact)
        : all_(std::make_shared<LoadedFunctions>()) {
        all_->artifact = std::move(artifact);
    }
    void add_struct(const std::string& name, const py::object& type) { (*all_->classes)[name] = type; }
    [[nodiscard]] const std::shared_ptr<const Artifact>& artifact() const { return all_->artifact; }
    [[nodiscard]] const manifest::Manifest& manifest() const { return all_->artifact->manifest; }
    [[nodiscard]] Function function(const std::string& name) const;

private:
    std::shared_ptr<LoadedFunctions> all_;
};

Function LoadedModule::function(const std::string& name) const {
    const auto& functions = manifest().functions;
    const auto found = std::ranges::find(functions, name, &manifest::Function::name);
    if (found == functions.end() || manifest::is_hidden(manifest(), *found)) {
        const std::string names = join(manifest::function_names(manifest()));
        refuse(ErrorCode::unknown_name, {manifest().name, {}},
               "no function '" + name + "'; it has " + (names.empty() ? "none" : names));
    }
    return Function(info_of(all_, static_cast<std::size_t>(found - functions.begin())));
}

LoadedModule load_module(const std::filesystem::path& path) {
    const GilRelease release;
    return LoadedModule(std::make_shared<const Artifact>(artifact::map_file(path.string())));
}

}  // namespace

void bind_loaded_module(py::module_& module) {
    py::class_<LoadedModule>(
        module, "Module",
        "An artifact's functions. Kernels are verified and made ready per device, on first use or by load().")
        .def_property_readonly("name", [](const LoadedModule& self) { return self.manifest().name; })
        .def_property_readonly(
            "functions", [](const LoadedModule& self) { return manifest::function_names(self.manifest()); })
        .def(
            "function",
            [](const LoadedModule& self, const std::string& wanted) {
                return make_function(self.function(wanted));
            },
            py::arg("name"))
        .def(
            "load",
            [](const LoadedModule& self, const py::object& device) {
                const ContextPtr context = context_of(device, {self.manifest().name, "device"});
                const Module loaded = context->module(self.artifact());
                const GilRelease release;
                loaded.load_all();
            },
            py::arg("device") = py::none(),
            "Makes every kernel ready on the device (the default one) now, so that no later call waits for "
            "it.")
        .def("add_struct", &LoadedModule::add_struct, py::arg("name"), py::arg("type"),
             "The class that structs of this Slang type come back as.")
        .def("__repr__",
             [](const LoadedModule& self) { return "<kernel module " + self.manifest().name + ">"; });
    module.def("load_module", &load_module, py::arg("path"), "Reads and verifies NAME.kfa.");
}

}  // namespace kf::python
