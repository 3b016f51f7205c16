// What is like an array or a list: buffers, arrays of other libraries, iterators and users' sequences.
#include "python/array_likes.h"

#include <vector>

#include "core/describe.h"
#include "core/device_state.h"
#include "python/attributes.h"
#include "python/differentiable.h"
#include "python/errors.h"
#include "python/foreign.h"
#include "python/generator.h"
#include "python/host.h"
#include "python/sampler.h"
#include "python/scalars.h"
#include "python/tensor.h"
#include "python/texture.h"
#include "python/torch_state.h"

namespace kf::python {
namespace {

bool is_known(py::handle value) {
    return py::isinstance<py::array>(value) || number_kind(value) || as_tensor(value) != nullptr ||
           as_texture(value) != nullptr || as_sampler(value) != nullptr || as_generator(value) != nullptr ||
           as_differentiable(value) != nullptr || torch_kind(value.ptr()) != TorchKind::none;
}

bool is_text_or_named(PyObject* value) {
    return value == Py_None || PyUnicode_Check(value) != 0 || PyBytes_Check(value) != 0 ||
           PyByteArray_Check(value) != 0 || PyDict_Check(value) != 0 || PyAnySet_Check(value) != 0 ||
           PyType_Check(value) != 0 || PyRange_Check(value) != 0 || PyTuple_Check(value) != 0 ||
           PyList_Check(value) != 0;
}

/// Looks at the class: an object may answer any name.
bool has(py::handle value, const char* name) {
    return static_cast<bool>(
        attribute_or_null(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())), py::str(name)));
}

py::object as_list(py::handle value) {
    auto list = py::reinterpret_steal<py::object>(PySequence_List(value.ptr()));
    if (!list) throw py::error_already_set();
    return list;
}

py::object from_foreign(py::handle value) {
    const ForeignTensor tensor = read_foreign(value, {}, {"Tensor.from_dlpack", "x"});
    if (tensor.kind == ForeignMemoryKind::host) return as_array(tensor);
    return py::type::of<Tensor>().attr("from_dlpack")(value);
}

class Stacker {
public:
    explicit Stacker(detail::Refusal* why) : why_(why) {}

    /// Returns null for another list.
    py::object stack(py::handle list, int depth) {
        constexpr int deepest = 12;  // a list may hold itself
        if (depth > deepest) return {};
        if (PyList_Check(list.ptr()) == 0 && PyTuple_Check(list.ptr()) == 0) return {};
        const py::tuple items(py::reinterpret_borrow<py::object>(list));
        std::vector<py::object> found;
        for (const py::handle item : items) {
            found.push_back(is_one(item) ? py::reinterpret_borrow<py::object>(item) : stack(item, depth + 1));
            if (!found.back() || !is_like(found.back(), found.front())) return {};
        }
        if (found.empty()) return {};
        py::list arrays;
        for (const py::object& one : found) {
            const Tensor* const tensor = as_tensor(one);
            arrays.append(tensor == nullptr ? one : py::object(download(*tensor)));
        }
        return py::module_::import("numpy").attr("stack")(arrays);
    }

    [[nodiscard]] const ContextPtr& context() const { return context_; }

private:
    static bool is_one(py::handle item) {
        return py::isinstance<py::array>(item) || as_tensor(item) != nullptr ||
               torch_kind(item.ptr()) != TorchKind::none;
    }

    bool is_like(const py::object& one, const py::object& first) {
        if (torch_kind(one.ptr()) != TorchKind::none) {
            return detail::refused(why_, ErrorCode::type_mismatch, [&] {
                return "a list of torch.Tensors is no tensor, and autograd wouldn't follow it: "
                       "torch.stack(list) makes one, found " +
                       shown(one);
            });
        }
        if (const Tensor* const tensor = as_tensor(one)) {
            if (context_ == nullptr) context_ = tensor->context;
            if (!tensor->context->device().state()->is_same(*context_->device().state())) {
                return detail::refused(why_, ErrorCode::device_mismatch, [&] {
                    const std::string first_id = context_->device().info().id;
                    const std::string id = tensor->context->device().info().id;
                    return "the tensors of a list are on one device, and not on " + first_id + " and " + id +
                           (id == first_id ? " (opened another time)" : "");
                });
            }
        }
        if (type_of(one).equal(type_of(first)) && one.attr("shape").equal(first.attr("shape"))) return true;
        return detail::refused(why_, ErrorCode::shape_mismatch, [&] {
            return "the arrays of a list have one shape and dtype, unlike " + shown(first) + " and " +
                   shown(one);
        });
    }

    static py::dtype type_of(const py::object& one) {
        const Tensor* const tensor = as_tensor(one);
        return tensor == nullptr ? py::reinterpret_borrow<py::array>(one).dtype() : dtype_of(*tensor);
    }

    detail::Refusal* why_;
    ContextPtr context_;
};

}  // namespace

bool is_iterator(PyObject* value) { return PyIter_Check(value) != 0; }

py::object stand_in(py::handle value) {
    if (is_text_or_named(value.ptr()) || is_known(value)) return {};
    if (is_numpy_scalar(value)) return {};
    if (is_foreign(value.ptr())) return from_foreign(value);
    const bool has_array = has(value, "__array__") || has(value, "__array_interface__");
    if (PyObject_CheckBuffer(value.ptr()) != 0 || has_array) {
        const py::object array = py::module_::import("numpy").attr("asarray")(value);
        // Buffers of ctypes say the machine's own byte order by its name.
        const py::object dtype = array.attr("dtype");
        return py::cast<bool>(dtype.attr("isnative"))
                   ? py::object(array.attr("view")(dtype.attr("newbyteorder")("=")))
                   : array;
    }
    if (is_iterator(value.ptr())) return as_list(value);
    // Mappings have items by name.
    const bool is_sequence = has(value, "__len__") && has(value, "__getitem__") && !has(value, "keys");
    return is_sequence ? as_list(value) : py::object();
}

std::optional<py::array> array_of(py::handle value) {
    if (py::isinstance<py::array>(value)) return py::reinterpret_borrow<py::array>(value);
    const py::object other = stand_in(value);
    if (!other || !py::isinstance<py::array>(other)) return std::nullopt;
    return py::reinterpret_borrow<py::array>(other);
}

Stack stacked(py::handle list, detail::Refusal* why) {
    Stacker stacker(why);
    py::object array = stacker.stack(list, 0);
    return {std::move(array), stacker.context()};
}

}  // namespace kf::python
