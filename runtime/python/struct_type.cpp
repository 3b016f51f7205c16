// Struct types as NumPy knows them.
#include "python/struct_type.h"

#include <algorithm>
#include <vector>

#include "core/convert.h"
#include "python/errors.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

std::int64_t alignment_of(const py::dtype& dtype, const Where& where) {
    const py::object sub = dtype.attr("subdtype");
    if (!sub.is_none()) return alignment_of(py::cast<py::dtype>(py::tuple(sub)[0]), where);
    const py::object fields = dtype.attr("fields");
    if (fields.is_none()) {
        if (!scalar_of(dtype)) {
            refuse(ErrorCode::type_mismatch, where,
                   "kernels have no dtype " + std::string(py::str(static_cast<py::handle>(dtype))));
        }
        return dtype.itemsize();
    }
    std::int64_t alignment = 1;
    for (const auto& entry : py::reinterpret_borrow<py::object>(fields).attr("values")()) {
        const py::tuple field = py::reinterpret_borrow<py::tuple>(entry);
        const std::int64_t own = alignment_of(py::cast<py::dtype>(field[0]), where);
        if (py::cast<std::int64_t>(field[1]) % own != 0) {
            refuse(ErrorCode::layout_mismatch, where,
                   "a field of dtype " + std::string(py::str(static_cast<py::handle>(dtype))) +
                       " is not aligned; use the dtype of the generated class, or np.dtype(..., align=True)");
        }
        alignment = std::max(alignment, own);
    }
    return alignment;
}

py::dtype with_extents(const py::dtype& base, std::span<const std::int64_t> extents) {
    if (extents.empty()) return base;
    py::tuple shape(extents.size());
    for (std::size_t i = 0; i < extents.size(); ++i) shape[i] = py::int_(extents[i]);
    return py::dtype::from_args(py::make_tuple(base, shape));
}

/// `level`: how many of the leaves' extents are of arrays around.
py::dtype struct_dtype(const manifest::Call& call, const manifest::Parameter& node, std::size_t level) {
    if (node.form == manifest::Form::leaf) {
        const manifest::Element& element = call.arguments[static_cast<std::size_t>(node.leaf)].element;
        return with_extents(dtype_of(scalar_type(element.scalar)), std::span(element.extents).subspan(level));
    }
    py::list names;
    py::list formats;
    py::list offsets;
    for (const manifest::Parameter& field : node.fields) {
        names.append(field.name);
        formats.append(struct_dtype(call, field, level + node.extents.size()));
        offsets.append(field.offset);
    }
    py::dict description;
    description["names"] = names;
    description["formats"] = formats;
    description["offsets"] = offsets;
    description["itemsize"] = node.size;
    return with_extents(py::dtype::from_args(description), node.extents);
}

}  // namespace

const StructType* struct_type(const py::dtype& dtype, const Where& where) {
    static auto& known = *new std::vector<const StructType*>();  // for the process: see StructType
    if (dtype.attr("fields").is_none()) return nullptr;
    for (const StructType* type : known) {
        if (type->dtype.equal(dtype)) return type;
    }
    ElementType element;
    element.struct_size = static_cast<std::uint32_t>(dtype.itemsize());
    const std::int64_t alignment = alignment_of(dtype, where);
    if (element.struct_size == 0 || element.struct_size % alignment != 0) {
        refuse(ErrorCode::layout_mismatch, where,
               "structs of dtype " + std::string(py::str(static_cast<py::handle>(dtype))) +
                   " are not aligned; use the dtype of the generated class, or np.dtype(..., align=True)");
    }
    known.push_back(new StructType{dtype, element, alignment});
    return known.back();
}

py::dtype dtype_of(const manifest::Call& call, const manifest::Parameter& structure) {
    manifest::Parameter one = structure;
    one.extents.clear();
    return struct_dtype(call, structure.extents.empty() ? structure : one, structure.extents.size());
}

}  // namespace kf::python
