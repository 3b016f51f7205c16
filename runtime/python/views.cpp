// The views of kf.Tensor: indexing, transposing, broadcasting.
#include "python/views.h"

#include <limits>
#include <numeric>
#include <vector>

#include "python/errors.h"
#include "python/host.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

constexpr Where index_of{"Tensor", "index"};

std::int64_t index_value(py::handle value) {
    const Py_ssize_t number = PyNumber_AsSsize_t(value.ptr(), PyExc_IndexError);
    if (number == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        refuse(ErrorCode::index_range, index_of, shown(value) + " is out of range");
    }
    return number;
}

AnyTensor sliced(const AnyTensor& tensor, std::size_t dimension, py::handle index) {
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 0;
    if (PySlice_Unpack(index.ptr(), &start, &stop, &step) < 0) throw py::error_already_set();
    const Py_ssize_t length = PySlice_AdjustIndices(tensor.shape()[dimension], &start, &stop, step);
    const auto axis = static_cast<std::int64_t>(dimension);
    if (length == 0) return tensor.slice(axis, 0, 0);
    if (length == 1) return tensor.slice(axis, start, start + 1);
    // Adjusted indices are never negative but for a backward slice that runs past the front.
    if (stop < 0) stop = std::numeric_limits<Py_ssize_t>::min();
    return tensor.slice(axis, start, stop, step);
}

Tensor get_item(const Tensor& self, const py::object& index) {
    const py::tuple items = py::isinstance<py::tuple>(index) ? py::tuple(index) : py::make_tuple(index);
    std::size_t used = 0;
    std::size_t ellipses = 0;
    for (const py::handle item : items) {
        if (item.ptr() == Py_Ellipsis) {
            ++ellipses;
        } else if (!item.is_none()) {
            ++used;
        }
    }
    if (ellipses > 1) refuse(ErrorCode::index_range, index_of, "more than one ellipsis");
    if (used > self.any.rank()) {
        refuse(ErrorCode::index_range, index_of,
               std::to_string(used) + " indices for a tensor of rank " + std::to_string(self.any.rank()));
    }
    AnyTensor view = self.any;
    std::size_t dimension = 0;
    for (const py::handle item : items) {
        if (item.ptr() == Py_Ellipsis) {
            dimension += self.any.rank() - used;
        } else if (item.is_none()) {
            view = view.insert_axis(static_cast<std::int64_t>(dimension++));
        } else if (PySlice_Check(item.ptr())) {
            view = sliced(view, dimension, item);
            ++dimension;
        } else if (PyIndex_Check(item.ptr()) && !PyBool_Check(item.ptr()) &&
                   !py::isinstance<py::array>(item)) {
            view = view.select(static_cast<std::int64_t>(dimension), index_value(item));
        } else {
            refuse(ErrorCode::type_mismatch, index_of,
                   "ints, slices, ... and None are known, not " + shown(item));
        }
    }
    return {view, self.context, self.structure};
}

Tensor transposed(const Tensor& self, const py::args& axes) {
    std::vector<std::int64_t> order(self.any.rank());
    const auto given =
        axes.size() == 1 && !PyIndex_Check(axes[0].ptr()) ? py::tuple(axes[0]) : py::tuple(axes);
    if (given.empty()) {
        std::iota(order.rbegin(), order.rend(), 0);
    } else {
        order.clear();
        for (const py::handle axis : given) order.push_back(index_value(axis));
    }
    return {self.any.transpose(order), self.context, self.structure};
}

Tensor viewed(const Tensor& self, py::handle dtype) {
    const Where where{"Tensor.view", "dtype"};
    py::object wanted = py::reinterpret_borrow<py::object>(dtype);
    if (py::hasattr(dtype, "dtype") && py::isinstance<py::dtype>(dtype.attr("dtype")))
        wanted = dtype.attr("dtype");
    const py::dtype parsed = numpy_dtype(wanted, where);
    if (const StructType* structure = struct_type(parsed, where)) {
        return {self.any.view(structure->element, structure->alignment), self.context, structure};
    }
    const ScalarType scalar = parse_dtype(parsed, where);
    return {self.any.view({scalar, 0}, static_cast<std::int64_t>(size_of(scalar))), self.context};
}

std::int64_t length(const Tensor& self) {
    if (self.any.rank() == 0) throw py::type_error("a kf.Tensor of rank 0 has no length");
    return self.any.shape()[0];
}

}  // namespace

void bind_views(py::class_<Tensor>& type) {
    type.def("__getitem__", &get_item, py::arg("index"))
        .def("__len__", &length)
        .def("__iter__",
             [](const Tensor& self) {
                 py::list views;
                 for (std::int64_t i = 0; i < length(self); ++i) {
                     views.append(Tensor{self.any.select(0, i), self.context, self.structure});
                 }
                 return py::iter(views);
             })
        .def("transpose", &transposed,
             "A view with its dimensions permuted; reversed when no axes are given.")
        .def_property_readonly("T", [](const Tensor& self) { return transposed(self, py::args()); })
        .def(
            "reshape",
            [](const Tensor& self, const py::args& shape) {
                const bool one = shape.size() == 1 && !PyIndex_Check(shape[0].ptr());
                const Dims dims =
                    parse_shape(one ? py::handle(shape[0]) : py::handle(shape), {"Tensor.reshape", "shape"});
                return Tensor{self.any.reshape(dims), self.context, self.structure};
            },
            "A row-major view of another shape; contiguous tensors only.")
        .def(
            "view", &viewed, py::arg("dtype"),
            "The same memory as elements of another dtype, or of a generated struct class. Smaller elements\n"
            "become a new last dimension; larger ones take the last dimensions, or a part of the last one.")
        .def(
            "broadcast_to",
            [](const Tensor& self, py::handle shape) {
                return Tensor{self.any.broadcast_to(parse_shape(shape, {"Tensor.broadcast_to", "shape"})),
                              self.context, self.structure};
            },
            py::arg("shape"), "A read-only view with stride 0 along the new and widened dimensions.");
}

}  // namespace kf::python
