// Recognises the tensor types of kf.slang.
#include "slang/tensors.h"

#include <string_view>

namespace kf::gen {

namespace {

/// Numbers behind the element: the rank, or what is read beyond the edges along x and along y.
unsigned number_count(TensorForm form) {
    if (is_view(form)) return 0;
    return form == TensorForm::diff_texture ? 2 : 1;
}

std::string addressing_of(slang::GenericReflection& generic) {
    std::string text;
    for (const unsigned index : {0U, 1U}) {
        const bool repeats = generic.getConcreteIntVal(generic.getValueParameter(index)) != 0;
        text += std::string(text.empty() ? "" : ", ") + "TextureAddress." + (repeats ? "repeat" : "clamp");
    }
    return text;
}

/// A user may have a struct of that name; ours begin with members that nobody else has there.
bool is_ours(slang::TypeReflection& type) {
    if (type.getFieldCount() == 0) return false;
    const char* first = type.getFieldByIndex(0)->getName();
    return first != nullptr && (std::string_view(first) == "_view" || std::string_view(first) == "_primal" ||
                                std::string_view(first) == "diff" || std::string_view(first) == "_texels");
}

}  // namespace

std::optional<FoundTensor> find_tensor(slang::TypeReflection& type) {
    const char* name = type.getName();
    if (name == nullptr) return std::nullopt;
    const std::optional<TensorForm> form = form_named(name);
    if (!form || !is_ours(type)) return std::nullopt;
    slang::GenericReflection* generic = type.getGenericContainer();
    if (generic == nullptr || generic->getTypeParameterCount() == 0 ||
        generic->getValueParameterCount() != number_count(*form)) {
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
    if (*form == TensorForm::diff_texture) {
        found.rank = 2;
        found.addressing = addressing_of(*generic);
    } else if (!is_view(*form)) {
        found.rank = generic->getConcreteIntVal(generic->getValueParameter(0));
    }
    if (found.element == nullptr) return std::nullopt;
    return found;
}

}  // namespace kf::gen
