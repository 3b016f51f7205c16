// kf.Module: an artifact's functions.
#include <algorithm>
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

    LoadedModule(std::shared_ptr<const Artifact> artifact, std::string import_name)
        : all_(std::make_shared<LoadedFunctions>()) {
        all_->artifact = std::move(artifact);
        all_->import_name = std::move(import_name);
    }
    void add_struct(const Text& name, const py::object& type) { (*all_->classes)[name.value] = type; }
    [[nodiscard]] const std::shared_ptr<const Artifact>& artifact() const { return all_->artifact; }
    [[nodiscard]] const manifest::Manifest& manifest() const { return all_->artifact->manifest; }
    /// Returns the kf.Function of this name, the same object each time.
    [[nodiscard]] py::object function(const Text& name) const;
    /// Returns a function that a pickle names, one that configuring another picks too.
    [[nodiscard]] py::object pickled_function(const Text& name) const;

private:
    [[nodiscard]] py::object object_of(std::size_t index) const;

    std::shared_ptr<LoadedFunctions> all_;
};

/// Returns the number of the first function called so that passes `is_wanted`.
template <class IsWanted>
std::size_t number_of(const manifest::Manifest& manifest, const std::string& name, IsWanted is_wanted) {
    const auto& functions = manifest.functions;
    const auto found = std::ranges::find_if(functions, [&](const manifest::Function& function) {
        return function.name == name && is_wanted(function);
    });
    if (found == functions.end()) {
        const std::string names = join(manifest::function_names(manifest));
        refuse(ErrorCode::unknown_name, {manifest.name, {}},
               "no function '" + name + "'; it has " + (names.empty() ? "none" : names));
    }
    return static_cast<std::size_t>(found - functions.begin());
}

py::object LoadedModule::object_of(std::size_t index) const {
    const auto known = all_->objects.find(index);
    if (known != all_->objects.end()) {
        if (py::object alive = known->second(); !alive.is_none()) return alive;
    }
    py::object made = make_function(Function(info_of(all_, index)));
    all_->objects.insert_or_assign(index, py::weakref(made));
    return made;
}

py::object LoadedModule::function(const Text& name) const {
    return object_of(number_of(manifest(), name.value, [&](const manifest::Function& function) {
        return !manifest::is_hidden(manifest(), function);
    }));
}

py::object LoadedModule::pickled_function(const Text& name) const {
    return object_of(number_of(manifest(), name.value, [](const manifest::Function& function) {
        return !manifest::is_jvp(function);
    }));
}

LoadedModule load_module(const py::object& file, const Text& import_name) {
    const std::string path = path_of(file, {"load_module", "path"});
    const GilRelease release;
    return {std::make_shared<const Artifact>(
                std::make_shared<const detail::LoadedArtifact>(artifact::map_file(path))),
            import_name.value};
}

}  // namespace

void bind_loaded_module(py::module_& module) {
    py::class_<LoadedModule>(
        module, "Module",
        "An artifact's functions. Kernels are verified and made ready per device, on first use or by load().")
        .def_property_readonly("name", [](const LoadedModule& self) { return self.manifest().name; })
        .def_property_readonly(
            "functions", [](const LoadedModule& self) { return manifest::function_names(self.manifest()); })
        .def("function", &LoadedModule::function, py::arg("name"))
        .def("_pickled_function", &LoadedModule::pickled_function, py::arg("name"))
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
             "The class that structs, or an enum's values, of this Slang type come back as.")
        .def("__repr__",
             [](const LoadedModule& self) { return "<kernel module " + self.manifest().name + ">"; });
    module.def(
        "load_module", &load_module, py::arg("path"), py::arg("import_name") = "",
        "Reads and verifies NAME.kfa. `import_name`: the Python module whose `_module` this will be, by "
        "which pickle finds its functions.");
}

}  // namespace kf::python
