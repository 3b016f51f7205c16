// Struct types as NumPy knows them.
#include "python/struct_type.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/convert.h"
#include "python/errors.h"
#include "python/scalars.h"

namespace kf::python {

using detail::Refusal;
using detail::refused;

namespace {

constexpr const char* advice = "; use the dtype of the generated class, or np.dtype(..., align=True)";

/// Returns 0, and why, for what kernels can't have.
std::int64_t alignment_of(const py::dtype& dtype, Refusal* why) {
    const py::object sub = dtype.attr("subdtype");
    if (!sub.is_none()) return alignment_of(py::cast<py::dtype>(py::tuple(sub)[0]), why);
    const py::object fields = dtype.attr("fields");
    if (fields.is_none()) {
        if (scalar_of(dtype)) return dtype.itemsize();
        refused(why, ErrorCode::type_mismatch, [&] {
            return "kernels have no dtype " + std::string(py::str(static_cast<py::handle>(dtype)));
        });
        return 0;
    }
    std::int64_t alignment = 1;
    for (const auto& name : dtype.attr("names")) {
        const py::tuple field = fields[name];
        const std::int64_t own = alignment_of(py::cast<py::dtype>(field[0]), why);
        if (own == 0) return 0;
        if (const auto offset = py::cast<std::int64_t>(field[1]); offset % own != 0) {
            refused(why, ErrorCode::layout_mismatch, [&] {
                return "field '" + std::string(utf8_of(name)) + "' is not aligned: it lies at byte " +
                       std::to_string(offset) + ", no multiple of " + std::to_string(own) + advice;
            });
            return 0;
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
py::dtype struct_dtype(const manifest::Call& call, const manifest::ParameterTree& node, std::size_t level) {
    if (node.form == manifest::Form::leaf) {
        const manifest::Element& element = call.arguments[static_cast<std::size_t>(node.leaf)].element;
        return with_extents(dtype_of(element.scalar), std::span(element.extents).subspan(level));
    }
    py::list names;
    py::list formats;
    py::list offsets;
    for (const manifest::ParameterTree& field : node.fields) {
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

std::string text_of(const py::handle& value) { return std::string(utf8_of(py::str(value))); }

/// `path` leads to the field that is compared; empty for the structs themselves.
std::string difference(const py::dtype& wanted, const py::dtype& found, const std::string& path) {
    const std::string subject = path.empty() ? "an element" : "field '" + path + "'";
    if (!py::object(wanted.attr("shape")).equal(found.attr("shape"))) {
        return subject + " has shape " + text_of(found.attr("shape")) + ", not " +
               text_of(wanted.attr("shape"));
    }
    const auto wanted_base = py::cast<py::dtype>(wanted.attr("base"));
    const auto found_base = py::cast<py::dtype>(found.attr("base"));
    const py::object names = wanted_base.attr("names");
    const py::object found_names = found_base.attr("names");
    if (names.is_none() || found_names.is_none()) {
        if (wanted_base.equal(found_base)) return {};
        return subject + " is " + (found_names.is_none() ? text_of(found_base) : "a struct") + ", not " +
               (names.is_none() ? text_of(wanted_base) : "a struct");
    }
    const std::string start = path.empty() ? "" : path + ".";
    for (const auto& name : names) {
        if (!py::cast<bool>(found_names.attr("__contains__")(name)))
            return "field '" + start + text_of(name) + "' is missing";
    }
    for (const auto& name : found_names) {
        if (!py::cast<bool>(names.attr("__contains__")(name)))
            return "there is no field '" + start + text_of(name) + "'";
    }
    for (const auto& name : names) {
        const py::tuple one = wanted_base.attr("fields")[name];
        const py::tuple other = found_base.attr("fields")[name];
        const std::string field = start + text_of(name);
        std::string inside = difference(py::cast<py::dtype>(one[0]), py::cast<py::dtype>(other[0]), field);
        if (!inside.empty()) return inside;
        if (!one[1].equal(other[1])) {
            return "field '" + field + "' lies at byte " + text_of(other[1]) + ", not " + text_of(one[1]);
        }
    }
    if (wanted_base.itemsize() == found_base.itemsize()) return {};
    return subject + " has " + std::to_string(found_base.itemsize()) + " bytes, not " +
           std::to_string(wanted_base.itemsize());
}

}  // namespace

std::string dtype_difference(const py::dtype& wanted, const py::dtype& found) {
    return difference(wanted, found, "");
}

const StructType* struct_type(const py::dtype& dtype, Refusal* why) {
    static auto& known = *new std::vector<const StructType*>();  // for the process: see StructType
    if (dtype.attr("fields").is_none()) return nullptr;
    for (const StructType* type : known) {
        if (type->dtype.is(dtype) || type->dtype.equal(dtype)) return type;
    }
    ElementType element;
    element.struct_size = static_cast<std::uint32_t>(dtype.itemsize());
    const std::int64_t alignment = alignment_of(dtype, why);
    if (alignment == 0) return nullptr;
    if (element.struct_size == 0 || element.struct_size % alignment != 0) {
        refused(why, ErrorCode::layout_mismatch, [&] {
            return "the structs are not aligned: they have " + std::to_string(element.struct_size) +
                   " bytes, no multiple of " + std::to_string(alignment) + advice;
        });
        return nullptr;
    }
    known.push_back(new StructType{dtype, element, alignment});
    return known.back();
}

const StructType* struct_type(const py::dtype& dtype, const Where& where) {
    Refusal why;
    const StructType* type = struct_type(dtype, &why);
    if (type == nullptr && !why.text.empty()) refuse(why, where);
    return type;
}

py::dtype dtype_of(const manifest::Call& call, const manifest::ParameterTree& structure) {
    manifest::ParameterTree one = structure;
    one.extents.clear();
    return struct_dtype(call, structure.extents.empty() ? structure : one, structure.extents.size());
}

}  // namespace kf::python
