// What every source of the extension starts from.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>  // a source without it has no conversions, and says so when it runs

#include <cstdint>
#include <string>
#include <string_view>

#include "python/bound_class.h"

namespace kf::python {
namespace py = pybind11;

/// Which argument of what is being converted; for messages only. Both must outlive the conversion.
struct Where {
    std::string_view owner;     ///< "polynomial", "Tensor"
    std::string_view argument;  ///< "x"; empty for none
};

/// "polynomial: argument 'x': " or "Tensor: ".
std::string prefix(const Where& where);

/// A str's text, which lives as long as it. Throws ArgumentError (unknown_name) for half of a surrogate pair,
/// which Python's strings may have and no text has, and (type_mismatch) for what isn't a str.
std::string_view utf8_of(py::handle text);

/// A function's parameter that is a text, which pybind11 would refuse in its own words.
struct Text {
    std::string value;
};

/// What open() takes for a file's name, as bytes. Throws ArgumentError (type_mismatch, unknown_name).
std::string path_of(py::handle path, const Where& where);

// Each part of the module, in the order of module.cpp.
void bind_gil(py::module_& module);
void bind_errors(py::module_& module);
void bind_described_calls(py::module_& module);
void bind_described_tensors(py::module_& module);
void bind_watched_overloads(py::module_& module);
void bind_device(py::module_& module);
void bind_tensor(py::module_& module);
void bind_buffer(py::module_& module);
void bind_sampler(py::module_& module);
void bind_texture(py::module_& module);
void bind_batchable(py::module_& module);
void bind_differentiable(py::module_& module);
void bind_encoder(py::module_& module);
void bind_generator(py::module_& module);
void bind_graph(py::module_& module);
void bind_globals(py::module_& module);
void bind_hook(py::module_& module);
void bind_optional_method(py::module_& module);
void bind_function_types(py::module_& module);
void bind_with_gradients(py::module_& module);
void bind_flat_backward(py::module_& module);
void bind_prepared(py::module_& module);
void bind_profile(py::module_& module);
void bind_unlaunched_call(py::module_& module);
void bind_loaded_module(py::module_& module);

/// Once all classes are bound.
void fix_classes(py::module_& module);

}  // namespace kf::python

namespace pybind11::detail {

template <>
class type_caster<kf::python::Text> {
public:
    PYBIND11_TYPE_CASTER(kf::python::Text, const_name("str"));

    bool load(handle source, bool /*convert*/) {
        if (PyUnicode_Check(source.ptr()) == 0) return false;
        value.value = kf::python::utf8_of(source);
        return true;
    }
};

}  // namespace pybind11::detail
