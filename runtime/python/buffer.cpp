// kf.Buffer: making, reading and writing.
#include "python/buffer.h"

#include "python/errors.h"
#include "python/exported.h"
#include "python/from_dlpack.h"
#include "python/host.h"

namespace kf::python {
namespace {

py::object tensor_class() { return py::type::of<Tensor>(); }

/// A new buffer of what kf.Tensor makes of the arguments.
Buffer made_by(const char* maker, bool writable, const py::tuple& arguments, const py::dict& keywords) {
    const py::object made = tensor_class().attr(maker)(*arguments, **keywords);
    return {py::cast<Tensor>(made), writable};
}

Buffer buffer_from_numpy(py::handle array, bool writable, py::handle device) {
    return made_by("from_numpy", writable, py::make_tuple(array), py::dict(py::arg("device") = device));
}

template <bool zeroed>
Buffer make_buffer(py::handle size, py::handle dtype, bool writable, py::handle device) {
    return made_by(zeroed ? "zeros" : "empty", writable, py::make_tuple(size, dtype),
                   py::dict(py::arg("device") = device));
}

/// Calls `Tensor.name(self.tensor, arguments…)`.
template <class... Arguments>
py::object of_tensor(const Buffer& self, const char* name, Arguments&&... arguments) {
    return py::cast(self.tensor).attr(name)(std::forward<Arguments>(arguments)...);
}

py::object tensor_of(const Buffer& self) {
    if (!self.writable) {
        refuse(ErrorCode::type_mismatch, {"Buffer.tensor", {}},
               "calls may only read the buffer, and a tensor can be written to; to_numpy() copies it");
    }
    return py::cast(self.tensor);
}

Buffer buffer_of(const Tensor& self, bool writable) {
    if (!self.any.is_contiguous()) {
        refuse(ErrorCode::layout_mismatch, {"Tensor.buffer", {}},
               "a buffer's elements lie one after the other: the tensor is not contiguous");
    }
    return {{self.any.without_grads(), self.context, self.structure}, writable};
}

std::string represent_buffer(const Buffer& self) {
    std::string text = py::repr(py::cast(self.tensor));
    text = "Buffer" + text.substr(text.find('('));
    if (self.writable) text.insert(text.size() - 1, ", writable");
    return text;
}

}  // namespace

const Buffer* as_buffer(py::handle value) { return held<Buffer>(value); }

void check_writable_buffer(py::handle value, const Where& where) {
    const Buffer* buffer = as_buffer(value);
    if (buffer == nullptr || buffer->writable) return;
    refuse(ErrorCode::type_mismatch, where,
           "the call writes it, and the kf.Buffer given is only read: make it with writable=True");
}

void bind_buffer(py::module_& module) {
    py::class_<Buffer> type(module, "Buffer",
                            "Device memory whose elements lie one after the other. Calls write to it only if "
                            "it is `writable`.\nWhere a call takes a tensor it takes a buffer, too.");
    type.def_static("from_numpy", &buffer_from_numpy, py::arg("a"), py::arg("writable") = false,
                    py::kw_only(), py::arg("device") = py::none(), "A copy of `a` on a device.")
        .def_static("from_dlpack", &buffer_from_dlpack, py::arg("x"), py::arg("writable") = false,
                    py::kw_only(), py::arg("device") = py::none(), py::arg("copy") = py::none(),
                    "The tensor of another library, as Tensor.from_dlpack() takes it; copied, too, where it "
                    "isn't contiguous.")
        .def_static("empty", &make_buffer<false>, py::arg("n"), py::arg("dtype") = py::none(),
                    py::arg("writable") = true, py::kw_only(), py::arg("device") = py::none(),
                    "Uninitialised; dtype is float32 by default.")
        .def_static("zeros", &make_buffer<true>, py::arg("n"), py::arg("dtype") = py::none(),
                    py::arg("writable") = true, py::kw_only(), py::arg("device") = py::none())
        .def(
            "to_numpy", [](const Buffer& self) { return of_tensor(self, "to_numpy"); },
            "A new array; waits for what writes the buffer.")
        .def(
            "copy_from_numpy",
            [](const Buffer& self, py::handle a) { of_tensor(self, "copy_from_numpy", a); }, py::arg("a"),
            "Overwrites the buffer in place; shape and dtype must be the same.")
        .def("tensor", &tensor_of, "The same memory as a kf.Tensor; of writable buffers.")
        .def_property_readonly("writable", [](const Buffer& self) { return self.writable; })
        .def_property_readonly("shape", [](const Buffer& self) { return to_tuple(self.tensor.any.shape()); })
        .def_property_readonly("dtype", [](const Buffer& self) { return dtype_of(self.tensor); })
        .def_property_readonly(
            "size", [](const Buffer& self) { return self.tensor.any.size(); }, "Number of elements.")
        .def_property_readonly("nbytes",
                               [](const Buffer& self) {
                                   return self.tensor.any.size() *
                                          static_cast<std::int64_t>(self.tensor.any.element().size());
                               })
        .def_property_readonly("address", [](const Buffer& self) { return self.tensor.any.address(); })
        .def_property_readonly("device", [](const Buffer& self) { return self.tensor.context; })
        .def("__len__",
             [](const Buffer& self) {
                 const Dims& shape = self.tensor.any.shape();
                 return shape.empty() ? 1 : shape[0];
             })
        .def(
            "__array__",
            [](const Buffer& self, py::handle dtype, py::handle copy) {
                return of_tensor(self, "__array__", dtype, copy);
            },
            py::arg("dtype") = py::none(), py::arg("copy") = py::none())
        .def("__repr__", &represent_buffer);
    bind_exports(type);
    tensor_class().attr("buffer") =
        py::cpp_function(&buffer_of, py::is_method(tensor_class()), py::arg("writable") = true,
                         "The same memory as a kf.Buffer, without its gradients; of contiguous tensors.");
}

}  // namespace kf::python
