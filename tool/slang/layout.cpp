// Reads Slang's layout reflection, which differs between targets and between values and pointees.
#include "slang/layout.h"

#include "slang/com_ptr.h"
#include "slang/session.h"

namespace kf::gen {

namespace {

Diagnostic kernel_error(const KernelSource& source, std::string message) {
    return {Severity::error, "slang-kernel-parameters", source.origin, std::move(message), {}};
}

bool is_system_value(slang::VariableLayoutReflection& parameter) {
    return parameter.getCategory() == slang::ParameterCategory::VaryingInput ||
           parameter.getSemanticName() != nullptr;
}

// Size with the padding at the end: what an array of them would take each.
std::int64_t padded_size(slang::TypeLayoutReflection& layout) {
    return static_cast<std::int64_t>(std::max(layout.getSize(), layout.getStride()));
}

/// Adds what a buffer holds, as "name[]": its size is that from one element to the next, 1 of bytes.
void add_element(slang::TypeLayoutReflection& buffer, const std::string& name,
                 std::vector<FieldLayout>& fields) {
    if (buffer.getKind() != slang::TypeReflection::Kind::Resource) return;
    slang::TypeLayoutReflection* element = buffer.getElementTypeLayout();
    fields.push_back({name + "[]", 0, element != nullptr ? padded_size(*element) : 1});
}

/// Adds a struct's fields, those of structs in it behind the struct. `start`: of the struct in the block,
/// bytes; `prefix`: of names.
void add_fields(slang::TypeLayoutReflection& type, std::int64_t start, const std::string& prefix,
                std::vector<FieldLayout>& fields) {
    for (unsigned index = 0; index < type.getFieldCount(); ++index) {
        slang::VariableLayoutReflection& field = *type.getFieldByIndex(index);
        slang::TypeLayoutReflection& layout = *field.getTypeLayout();
        const std::int64_t offset = start + static_cast<std::int64_t>(field.getOffset());
        const std::string name = prefix + field.getName();
        fields.push_back({name, offset, static_cast<std::int64_t>(layout.getSize())});
        add_element(layout, name, fields);
        if (layout.getKind() == slang::TypeReflection::Kind::Struct)
            add_fields(layout, offset, name + ".", fields);
    }
}

}  // namespace

Diagnostics describe_block(slang::ISession& session, slang::IComponentType& program,
                           const KernelSource& source, CodeTarget target, CompiledKernel& kernel) {
    slang::ProgramLayout* layout = program.getLayout(target_index(source, target));
    if (layout == nullptr || layout->getEntryPointCount() != 1) {
        return {kernel_error(source, "Slang gave no layout of '" + source.entry_point + "'")};
    }
    slang::EntryPointReflection& entry = *layout->getEntryPointByIndex(0);
    slang::VariableLayoutReflection* block = nullptr;
    for (unsigned index = 0; index < entry.getParameterCount(); ++index) {
        slang::VariableLayoutReflection* parameter = entry.getParameterByIndex(index);
        if (is_system_value(*parameter)) {
            continue;
        }
        if (block != nullptr) {
            return {kernel_error(source, "'" + source.entry_point + "' has more than one uniform parameter")};
        }
        block = parameter;
    }
    if (block == nullptr) {
        return {kernel_error(source, "'" + source.entry_point + "' has no uniform parameter")};
    }
    slang::TypeLayoutReflection* type = block->getTypeLayout();
    if (type->getKind() == slang::TypeReflection::Kind::ConstantBuffer) {
        type = type->getElementTypeLayout();
    } else if (type->getKind() == slang::TypeReflection::Kind::Pointer) {
        type = type->getElementTypeLayout();
        // Slang reports Vulkan's pointee layout (bool of 4 bytes) for CUDA, too, but emits a plain struct.
        if (type != nullptr && target == CodeTarget::cuda_source) {
            type = session.getTypeLayout(type->getType());
        }
    }
    if (type == nullptr || type->getKind() != slang::TypeReflection::Kind::Struct) {
        return {kernel_error(source, "the uniform parameter of '" + source.entry_point + "' is no struct")};
    }
    kernel.block_size = padded_size(*type);
    add_fields(*type, 0, "", kernel.block);
    for (unsigned index = 0; index < layout->getParameterCount(); ++index) {
        slang::VariableLayoutReflection& global = *layout->getParameterByIndex(index);
        constexpr std::string_view own = "kf_";
        const std::string_view name = global.getName() != nullptr ? global.getName() : "";
        if (name.starts_with(own) && global.getTypeLayout() != nullptr)
            add_element(*global.getTypeLayout(), std::string(name.substr(own.size())), kernel.block);
    }
    return {};
}

}  // namespace kf::gen
