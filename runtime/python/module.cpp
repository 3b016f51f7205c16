// The extension module kernelfunctions._kf.
#include "python/common.h"
#include "python/options.h"

PYBIND11_MODULE(_kf, module) {
    module.attr("__version__") = KF_VERSION;
    kf::python::bind_gil(module);
    kf::python::bind_errors(module);
    kf::python::bind_device(module);
    kf::python::bind_tensor(module);
    kf::python::bind_buffer(module);
    kf::python::bind_differentiable(module);
    kf::python::bind_encoder(module);
    kf::python::bind_generator(module);
    kf::python::bind_options(module);
    kf::python::bind_globals(module);
    kf::python::bind_hook(module);
    kf::python::bind_function_types(module);
    kf::python::bind_unlaunched_call(module);
    kf::python::bind_loaded_module(module);
}
