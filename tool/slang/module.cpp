// Comparison of Slang types, which hold each other.
#include "slang/module.h"

#include <array>
#include <tuple>

namespace kf::gen {

std::string_view form_name(TensorForm form) {
    constexpr std::array<std::string_view, tensor_form_count> names{
        "Tensor",       "WTensor",      "RWTensor",   "AtomicTensor",   "DiffTensor",   "WDiffTensor",
        "RWDiffTensor", "GradInTensor", "TensorView", "DiffTensorView", "DiffTexture2D"};
    return names.at(static_cast<std::size_t>(form));
}

std::optional<TensorForm> form_named(std::string_view name) {
    for (int index = 0; index < tensor_form_count; ++index) {
        const auto form = static_cast<TensorForm>(index);
        if (form_name(form) == name) return form;
    }
    return std::nullopt;
}

bool NamedModule::is_meant_by(std::string_view prefix) const {
    if (prefix == name) return true;
    return !prefix.empty() && path.ends_with(prefix) &&
           (path.size() == prefix.size() || path[path.size() - prefix.size() - 1] == '.');
}

// Spelled out: clang 14 crashes on a defaulted one here.
bool Type::operator==(const Type& other) const {
    const auto all = [](const Type& type) {
        return std::tie(type.kind, type.scalar, type.rows, type.columns, type.extent, type.element, type.form,
                        type.addressing, type.fields, type.name, type.differentiable, type.inherits,
                        type.no_diff_array, type.is_writable, type.link_extent, type.is_enum, type.members,
                        type.texture, type.own);
    };
    return all(*this) == all(other);
}

}  // namespace kf::gen
