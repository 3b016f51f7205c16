// Writes the C++ types of device headers.
#include "emit/device_types.h"

#include <algorithm>
#include <array>

#include "emit/cpp_structs.h"
#include "emit/names.h"
#include "emit/text.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

/// A bound on leaves: more would make calls that no compiler gets through.
constexpr std::size_t most_leaves = 256;

struct ScalarNames {
    std::string_view scalar;
    std::string_view vector;  ///< what CUDA's vectors of it begin with; empty: it has none
};

constexpr std::array<ScalarNames, 12> scalar_names{{{"bool", ""},
                                                    {"signed char", "char"},
                                                    {"short", "short"},
                                                    {"int", "int"},
                                                    {"long long", "longlong"},
                                                    {"unsigned char", "uchar"},
                                                    {"unsigned short", "ushort"},
                                                    {"unsigned int", "uint"},
                                                    {"unsigned long long", "ulonglong"},
                                                    {"__half", ""},
                                                    {"float", "float"},
                                                    {"double", "double"}}};

const ScalarNames& names_of(ScalarType scalar) { return scalar_names.at(static_cast<std::size_t>(scalar)); }

/// Whether CUDA has a vector of that type; those of four values of 64 bits are deprecated there.
bool has_cuda_vector(const Type& type) {
    if (type.scalar == ScalarType::float16) return type.columns == 2;
    const bool wide = type.scalar == ScalarType::int64 || type.scalar == ScalarType::uint64 ||
                      type.scalar == ScalarType::float64;
    return !names_of(type.scalar).vector.empty() && !(wide && type.columns == 4);
}

std::string field_name(const Field& field) { return cpp_identifier(field.name); }

/// "float " and "[2][3]" of "float[2][3]", between which a name goes.
struct Declarator {
    std::string type;
    std::string extents;
};

Declarator declarator(const Type& type) {
    if (type.kind != TypeKind::array) return {device_type(type), {}};
    const Declarator element = declarator(type.element.front());
    return {element.type, "[" + std::to_string(type.extent) + "]" + element.extents};
}

bool is_passed_by_value(const Type& type) {
    return type.kind == TypeKind::scalar || type.kind == TypeKind::vector || type.kind == TypeKind::pointer;
}

std::optional<DeviceRefusal> refused_part(const Type& type);

/// Refuses pointers unless the kernel and Slang's code have the same type for the memory.
std::optional<DeviceRefusal> refused_pointer(const Type& type) {
    const Type* to = elements_of(type);
    const auto refused = [&](const std::string& what) {
        return DeviceRefusal{{}, "a pointer to " + what, "read it in the kernel and pass the value"};
    };
    if (to == nullptr) return refused("'void', or to another pointer");
    if (to->kind == TypeKind::array) return refused("the array '" + to->name + "'");
    if (const std::optional<DeviceRefusal> part = refused_part(*to))
        return refused("'" + kind_name(*to) + "'" +
                       (part->path.empty() ? "" : ", whose '" + part->path.substr(1) + "'") + " is " +
                       part->reason);
    return std::nullopt;
}

std::optional<DeviceRefusal> refused_buffer(const Type& type) {
    const std::string name = type.name.substr(0, type.name.find('<'));
    const bool known = name == "StructuredBuffer" || name == "RWStructuredBuffer" ||
                       name == "ByteAddressBuffer" || name == "RWByteAddressBuffer";
    if (!known) return DeviceRefusal{{}, "'" + type.name + "'", "take a StructuredBuffer, or a pointer"};
    const Type* element = elements_of(type);
    if (element == nullptr) return std::nullopt;
    if (std::optional<DeviceRefusal> part = refused_part(*element))
        return DeviceRefusal{
            {},
            "'" + type.name + "', whose " +
                (part->path.empty() ? "elements are " : "'" + part->path.substr(1) + "' is ") + part->reason,
            part->cure};
    return std::nullopt;
}

std::optional<DeviceRefusal> refused_tensor(const Type& type) {
    const Type& element = type.element.front();
    const bool plain = (element.kind == TypeKind::scalar && !element.is_enum) ||
                       element.kind == TypeKind::vector || element.kind == TypeKind::matrix;
    if (!plain)
        return DeviceRefusal{
            {},
            "'" + declared_name(type) + "', whose elements aren't scalars, vectors or matrices",
            "take a pointer or a StructuredBuffer"};
    if (std::optional<DeviceRefusal> part = refused_part(element)) return part;
    const bool wide = element.scalar == ScalarType::float32 || element.scalar == ScalarType::float64;
    if (is_differentiable(type.form) && !wide)
        return DeviceRefusal{{},
                             "'" + declared_name(type) + "', whose gradients are added up in another type",
                             "take floats, or a tensor without a gradient"};
    return std::nullopt;
}

std::optional<DeviceRefusal> refused_struct(const Type& type) {
    if (type.inherits)
        return DeviceRefusal{{},
                             "the struct '" + type.name + "', which has another one's fields",
                             "write them in the struct itself"};
    for (const Field& field : type.fields) {
        if (std::optional<DeviceRefusal> refused = refused_part(field.type)) {
            refused->path = "." + field.name + refused->path;
            return refused;
        }
    }
    return std::nullopt;
}

void add_leaves(const Type& type, const DeviceLeaf& place, std::vector<DeviceLeaf>& leaves) {
    if (leaves.size() > most_leaves) return;
    if (type.kind == TypeKind::structure) {
        for (const Field& field : type.fields) {
            add_leaves(field.type,
                       {place.slang_path + "." + field.name,
                        place.cpp_path + "." + field_name(field),
                        {},
                        place.differentiable && !field.no_diff && field.type.differentiable},
                       leaves);
        }
    } else if (type.kind == TypeKind::array && innermost_of(type).kind == TypeKind::structure) {
        for (std::int64_t i = 0; i < type.extent && leaves.size() <= most_leaves; ++i) {
            const std::string index = "[" + std::to_string(i) + "]";
            add_leaves(type.element.front(),
                       {place.slang_path + index, place.cpp_path + index, {}, place.differentiable}, leaves);
        }
    } else {
        leaves.push_back({place.slang_path, place.cpp_path, type, place.differentiable});
    }
}

std::optional<DeviceRefusal> refused_part(const Type& type) {
    switch (type.kind) {
        case TypeKind::scalar: return std::nullopt;
        case TypeKind::vector:
        case TypeKind::matrix:
            if (type.columns > 1) return std::nullopt;
            return DeviceRefusal{{}, "a '" + kind_name(type) + "' of one column", "take scalars"};
        case TypeKind::array:
            if (type.extent <= 0)
                return DeviceRefusal{{}, "an array without an extent", "take a pointer, or state the extent"};
            if (type.element.front().kind != TypeKind::array && innermost_of(type).is_enum)
                return DeviceRefusal{{}, "an array of enums", "take an array of integers"};
            return refused_part(type.element.front());
        case TypeKind::structure: return refused_struct(type);
        case TypeKind::pointer: return refused_pointer(type);
        case TypeKind::buffer:
        case TypeKind::tensor:
            return DeviceRefusal{{},
                                 "'" + declared_name(type) + "' within another type",
                                 "make it a parameter of the function"};
        default:
            return DeviceRefusal{{},
                                 "'" + type.name + "', which hosts bind to kernels",
                                 "read it in the kernel and pass the values, or put the function into a spec "
                                 "without this output"};
    }
}

}  // namespace

std::optional<DeviceRefusal> refused_by_devices(const Type& type) {
    if (type.kind == TypeKind::buffer) return refused_buffer(type);
    if (type.kind == TypeKind::tensor) return refused_tensor(type);
    std::optional<DeviceRefusal> refused = refused_part(type);
    if (!refused && device_leaves(type).size() > most_leaves)
        return DeviceRefusal{{},
                             "'" + type.name + "' of more than " + std::to_string(most_leaves) + " values",
                             "take arrays of scalars or vectors, which count as one"};
    return refused;
}

std::vector<DeviceLeaf> device_leaves(const Type& type) {
    std::vector<DeviceLeaf> leaves;
    add_leaves(type, {{}, {}, {}, type.differentiable}, leaves);
    return leaves;
}

std::string device_leaf_name(const DeviceLeaf& leaf) {
    if (leaf.type.is_enum) return std::string(to_string(leaf.type.scalar));
    return declared_name(leaf.type);
}

bool is_bound(const Type& type) { return type.kind == TypeKind::buffer || type.kind == TypeKind::tensor; }

Type of_rank(const Type& type, std::int64_t rank) {
    Type ranked = type;
    ranked.extent = rank;
    return ranked;
}

const Type* elements_of(const Type& type) {
    const bool holds = is_bound(type) || type.kind == TypeKind::pointer;
    return holds && !type.element.empty() ? &type.element.front() : nullptr;
}

std::string device_template(const Type& type) {
    if (type.kind == TypeKind::buffer) return "Buffer";
    if (type.kind == TypeKind::array) return "Array";
    if (type.kind != TypeKind::tensor) return {};
    if (type.form == TensorForm::diff_read_write) return "RWDiffTensor";
    return is_differentiable(type.form) ? "DiffTensor" : "Tensor";
}

std::string device_result(const Type& type) {
    if (type.kind != TypeKind::array) return device_type(type);
    const Declarator element = declarator(type.element.front());
    return "Array<" + element.type + element.extents + ", " + std::to_string(type.extent) + ">";
}

std::string device_type(const Type& type) {
    switch (type.kind) {
        case TypeKind::buffer: {
            const Type* element = elements_of(type);
            return std::string("Buffer<") + (type.is_writable ? "" : "const ") +
                   (element == nullptr ? "unsigned int" : device_type(*element)) + ">";
        }
        case TypeKind::tensor:
            return device_template(type) + "<" + (writes(type.form) ? "" : "const ") +
                   device_type(type.element.front()) + ", " + std::to_string(type.extent) + ">";
        case TypeKind::void_type: return "void";
        case TypeKind::scalar: return std::string(names_of(type.scalar).scalar);
        case TypeKind::vector:
            if (type.scalar == ScalarType::float16 && has_cuda_vector(type)) return "__half2";
            if (has_cuda_vector(type))
                return std::string(names_of(type.scalar).vector) + std::to_string(type.columns);
            return kind_name(type);
        case TypeKind::pointer:
            return (type.is_writable ? "" : "const ") + device_type(type.element.front()) + "*";
        case TypeKind::structure: return cpp_struct_name(type);
        default: return kind_name(type);
    }
}

std::string device_parameter(const Type& type, const std::string& name, manifest::Role role) {
    const Declarator declared = declarator(type);
    const bool is_read = role == manifest::Role::in;
    if (is_bound(type)) return "const " + declared.type + "& " + name;
    if (is_read && is_passed_by_value(type)) return declared.type + " " + name;
    const std::string start = (is_read ? "const " : "") + declared.type;
    if (declared.extents.empty()) return start + "& " + name;
    return start + " (&" + name + ")" + declared.extents;
}

bool DeviceTypes::is_new(const std::string& name) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) return false;
    known_.push_back(name);
    return true;
}

void DeviceTypes::add_parameter(const Type& type, bool is_result) {
    const bool is_template = is_bound(type) || (is_result && type.kind == TypeKind::array);
    if (is_template && is_new("template " + device_template(type)))
        given_.emplace_back(device_template(type));
    add(type);
}

void DeviceTypes::add(const Type& type) {
    if (is_bound(type) || type.kind == TypeKind::pointer) {
        if (const Type* element = elements_of(type)) add(*element);
        return;
    }
    if (type.kind == TypeKind::array) return add(type.element.front());
    if (type.kind == TypeKind::structure) return add_struct(type);
    const bool vector = type.kind == TypeKind::vector && !has_cuda_vector(type);
    if ((!vector && type.kind != TypeKind::matrix) || !is_new(device_type(type))) return;
    // Slang's code has char for it.
    const std::string scalar(type.scalar == ScalarType::int8 ? "char" : names_of(type.scalar).scalar);
    const std::string extents =
        (vector ? "" : std::to_string(type.rows) + ", ") + std::to_string(type.columns);
    aliases_.emplace_back(
        View::Object{{"name", device_type(type)},
                     {"type", (vector ? "Vector<" : "Matrix<") + scalar + ", " + extents + ">"}});
}

void DeviceTypes::add_struct(const Type& type) {
    if (!is_new(device_type(type))) return;
    for (const Field& field : type.fields) add(field.type);
    const auto text = std::find_if(texts_.begin(), texts_.end(), [&](const StructText& one) {
        return one.name == type.name.substr(0, type.name.find('<'));
    });
    View::List fields;
    for (const Field& field : type.fields) {
        std::string written;
        if (text != texts_.end()) {
            for (const auto& [name, words] : text->fields) {
                if (name == field.name) written = words;
            }
        }
        const Declarator declared = declarator(field.type);
        fields.emplace_back(
            View::Object{{"doc", doc_comment(doc_lines(written))},
                         {"declaration", declared.type + " " + field_name(field) + declared.extents}});
    }
    structs_.emplace_back(View::Object{{"doc", doc_comment(doc_lines(text == texts_.end() ? "" : text->doc))},
                                       {"name", device_type(type)},
                                       {"fields", std::move(fields)}});
}

}  // namespace kf::gen
