// Buffers.
#include "emit/kinds/buffer.h"

#include <functional>

#include "emit/kinds/tensor.h"
#include "emit/text.h"
#include "plan/memory_layout.h"
#include "plan/types.h"

namespace kf::gen {

std::string bound_name(const std::string& resource) { return "kf_bound_" + as_identifier(resource); }

bool has_byte_addresses(const PlannedArgument& argument) {
    const auto* buffer = std::get_if<manifest::kinds::Buffer>(&argument.host.kind);
    return buffer != nullptr && buffer->bytes;
}

Diagnostics check_spirv_arrays(const PlannedCall& call) {
    Diagnostics errors;
    for (const PlannedArgument& argument : call.arguments) {
        if (!has_byte_addresses(argument) || argument.path.find('[') == std::string::npos) continue;
        errors.push_back({Severity::error,
                          "type-not-supported",
                          argument.location,
                          "argument '" + argument.host.name + "': Slang makes no SPIR-V of a '" +
                              argument.type.name + "' in an array",
                          {std::string("make it a ") + (argument.type.is_writable ? "RW" : "") +
                           "StructuredBuffer<uint>, or generate for CUDA alone"}});
        break;
    }
    return errors;
}

Diagnostics check_cuda_layouts(const PlannedCall& call) {
    Diagnostics errors;
    const auto check = [&](const std::string& name, const Type& type, const Location& location) {
        const bool reached = type.kind == TypeKind::buffer || type.kind == TypeKind::pointer;
        if (!reached || type.element.empty() || !is_plain(type.element.front())) return;
        const std::string difference = cuda_difference(type.element.front());
        if (difference.empty()) return;
        errors.push_back(
            {Severity::error,
             "struct-layout",
             location,
             "argument '" + name + "': " + difference,
             {"put fields of 2 and 4 components where their size divides the offset, with unused "
              "fields before them and at the end; or make it a Tensor, which takes them as they "
              "are"}});
    };
    const std::function<void(const std::string&, const Type&, const Location&)> check_all =
        [&](const std::string& name, const Type& type, const Location& location) {
            check(name, type, location);
            if (type.kind == TypeKind::array) check_all(name, type.element.front(), location);
            for (const Field& field : type.fields) check_all(name + "." + field.name, field.type, location);
        };
    for (const PlannedParameter& parameter : call.parameters) {
        const PlannedArgument& first = call.arguments[static_cast<std::size_t>(parameter.host.leaf)];
        check_all(parameter.host.name, parameter.type, first.location);
    }
    return errors;
}

}  // namespace kf::gen

namespace kf::gen::kinds {

namespace {

bool is_written(const Buffer& buffer) { return buffer.access != manifest::Access::read; }

}  // namespace

std::optional<MadeValue> made_value(const Buffer&, const MadeUse& use) {
    return MadeValue{bound_name(use.planned.host.name), {}, {}};
}

std::string cpp_passed_type(const Buffer& buffer, const PlannedArgument& item, const CppStructs& structs) {
    return std::string(is_written(buffer) ? "kf::RWBuffer<" : "kf::Buffer<") +
           (buffer.bytes ? "void" : structs.type(item)) + ">";
}

PythonTypes python_types(const Buffer&, const PlannedArgument&, bool) {
    return python_tensor_types | python_buffer;
}

std::string described(const Buffer& buffer, const PlannedArgument& item) {
    return std::string(is_written(buffer) ? "read and written" : "in") + ", " +
           (buffer.bytes ? "bytes" : with_enum(item.element_name, item.type)) + " buffer";
}

}  // namespace kf::gen::kinds
