// Textures.
#include "emit/kinds/texture.h"

#include "emit/kinds/buffer.h"

namespace kf::gen::kinds {

std::optional<MadeValue> made_value(const Texture&, const MadeUse& use) {
    return MadeValue{bound_name(use.planned.host.name), {}, {}};
}

std::string cpp_passed_type(const Texture&, const PlannedArgument&, const CppStructs&) {
    return "kf::AnyTexture";
}

PythonTypes python_types(const Texture&, const PlannedArgument&, bool) { return python_buffer; }

std::string described(const Texture& texture, const PlannedArgument&) {
    return std::string("in, ") + texture_word(texture);
}

}  // namespace kf::gen::kinds
