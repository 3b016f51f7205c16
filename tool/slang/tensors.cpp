// Recognises the tensor types of kf.slang.
#include "slang/tensors.h"

#include <string_view>

namespace kf::gen {

namespace {

/// A user may have a struct of that name; ours begin with members that nobody else has there.
bool is_ours(slang::TypeReflection& type) {
    if (type.getFieldCount() == 0) return false;
    const char* first = type.getFieldByIndex(0)->getName();
    return first != nullptr && (std::string_view(first) == "_view" || std::string_view(first) == "_primal" ||
                                std::string_view(first) == "diff");
}

}  // namespace

std::optional<FoundTensor> find_tensor(slang::TypeReflection& type) {
    const char* name = type.getName();
    if (name == nullptr) return std::nullopt;
    const std::optional<TensorForm> form = form_named(name);
    if (!form || !is_ours(type)) return std::nullopt;
    slang::GenericReflection* generic = type.getGenericContainer();
    if (generic == nullptr || generic->getTypeParameterCount() == 0 ||
        generic->getValueParameterCount() != (is_view(*form) ? 0 : 1)) {
        return std::nullopt;
    }
    // DiffTensorView's says how gradients are added up: as its default does.
    if (generic->getTypeParameterCount() == 2) {
        slang::TypeReflection* adds = generic->getConcreteType(generic->getTypeParameter(1));
        if (adds == nullptr || adds->getName() == nullptr || std::string_view(adds->getName()) != "AtomicAdd")
            return std::nullopt;
    }
    FoundTensor found;
    found.form = *form;
    found.element = generic->getConcreteType(generic->getTypeParameter(0));
    if (!is_view(*form)) found.rank = generic->getConcreteIntVal(generic->getValueParameter(0));
    if (found.element == nullptr) return std::nullopt;
    return found;
}

}  // namespace kf::gen
