// The extension module kernelfunctions._kf.
#include "python/common.h"
#include "python/options.h"
#include "python/pickling.h"
#include "python/wrong_arguments.h"

PYBIND11_MODULE(_kf_main, module) {
    module.attr("__version__") = KF_VERSION;
    kf::python::bind_gil(module);
    kf::python::bind_errors(module);
    kf::python::bind_device(module);
    kf::python::bind_tensor(module);
    kf::python::bind_buffer(module);
    kf::python::bind_sampler(module);
    kf::python::bind_texture(module);
    kf::python::bind_differentiable(module);
    kf::python::bind_batchable(module);
    kf::python::bind_with_gradients(module);
    kf::python::bind_encoder(module);
    kf::python::bind_flat_backward(module);
    kf::python::bind_generator(module);
    kf::python::bind_graph(module);
    kf::python::bind_options(module);
    kf::python::bind_globals(module);
    kf::python::bind_hook(module);
    kf::python::bind_optional_method(module);
    kf::python::bind_function_types(module);
    kf::python::bind_prepared(module);
    kf::python::bind_profile(module);
    kf::python::bind_unlaunched_call(module);
    kf::python::bind_loaded_module(module);
    kf::python::bind_described_calls(module);
    kf::python::bind_described_tensors(module);
    kf::python::bind_watched_overloads(module);
    kf::python::refuse_pickling(module);
    kf::python::reword_refusals(module);
    kf::python::fix_classes(module);
}

/// What Python calls. Only the main interpreter goes on to pybind11, which would wait for itself in others.
extern "C" PYBIND11_EXPORT PyObject* PyInit__kf() {
    if (PyInterpreterState_Get() == PyInterpreterState_Main()) return PyInit__kf_main();
    PyErr_SetString(PyExc_ImportError,
                    "kernelfunctions can't be imported in a subinterpreter: its devices and settings are the "
                    "process's; import it in the main interpreter");
    return nullptr;
}
