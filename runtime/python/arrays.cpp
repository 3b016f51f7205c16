// Masks, and memory that several elements share.
#include "python/arrays.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "python/errors.h"

namespace kf::python {
namespace {

/// True of every view that slicing, transposing and reshaping make. Strides are in bytes.
bool has_a_place_for_each(const py::array& array) {
    std::vector<std::pair<py::ssize_t, py::ssize_t>> dimensions;  // stride and extent
    for (py::ssize_t d = 0; d < array.ndim(); ++d) {
        if (array.shape(d) == 0) return true;
        if (array.shape(d) > 1) dimensions.emplace_back(std::abs(array.strides(d)), array.shape(d));
    }
    std::sort(dimensions.begin(), dimensions.end());
    py::ssize_t inside = array.itemsize();  // bytes that the smaller strides span
    for (const auto& [stride, extent] : dimensions) {
        if (stride < inside) return false;
        inside += stride * (extent - 1);
    }
    return true;
}

/// Returns true, too, for views so entangled that finding out takes too long.
bool share_memory(const py::array& a, const py::array& b) {
    constexpr int most_work = 10'000;
    const py::module_ numpy = py::module_::import("numpy");
    try {
        return py::cast<bool>(numpy.attr("shares_memory")(a, b, py::arg("max_work") = most_work));
    } catch (py::error_already_set& error) {
        // TooHardError, which is one and has moved between NumPy's versions.
        if (!error.matches(PyExc_RuntimeError)) throw;
        return true;
    }
}

}  // namespace

bool is_unmasked(py::handle array, detail::Refusal* why) {
    const auto* plain = reinterpret_cast<PyTypeObject*>(py::detail::npy_api::get().PyArray_Type_);
    if (Py_TYPE(array.ptr()) == plain) return true;
    if (!py::isinstance(array, py::module_::import("numpy.ma").attr("MaskedArray"))) return true;
    return detail::refused(why, ErrorCode::type_mismatch, [&] {
        return "a masked array is given, " + shown(array) +
               ", and kernels know no masks: give array.filled(value), or array.data for every element";
    });
}

void refuse_masked(py::handle array, const Where& where) {
    detail::Refusal why;
    if (!is_unmasked(array, &why)) refuse(why, where);
}

void check_writable(const py::array& array, const Where& where) {
    if (!array.writeable()) {
        refuse(ErrorCode::type_mismatch, where,
               "the array is written to, but it is read-only: give a kf.Tensor or a writable array");
    }
    if (!has_a_place_for_each(array)) {
        refuse(ErrorCode::aliasing, where,
               "the array is written to, but elements of it share memory: its strides are " +
                   shown(array.attr("strides")) + " bytes, its shape is " + shown(array.attr("shape")));
    }
}

void check_apart(std::span<const std::pair<Where, py::array>> written) {
    for (std::size_t i = 1; i < written.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (!share_memory(written[i].second, written[k].second)) continue;
            refuse(ErrorCode::aliasing, written[i].first,
                   "the array is written to, and it shares memory with argument '" +
                       std::string(written[k].first.argument) + "', which is written to as well");
        }
    }
}

}  // namespace kf::python
