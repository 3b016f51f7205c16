// Textures in kernels: the function is handed what is bound.
#pragma once

#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Texture;

inline Supply supply_of(const Texture&, const manifest::Argument&) { return Supply::bound; }
std::optional<MadeValue> made_value(const Texture& texture, const MadeUse& use);
inline bool counts_calls(const Texture&) { return false; }
inline bool moves_along_calls(const Texture&, const manifest::Argument&) { return false; }
inline bool is_found_without_strides(const Texture&, const manifest::Argument&) { return true; }
std::string cpp_passed_type(const Texture& texture, const PlannedArgument& item, const CppStructs& structs);
PythonTypes python_types(const Texture& texture, const PlannedArgument& item, bool takes_gradient);
std::string described(const Texture& texture, const PlannedArgument& item);

}  // namespace kf::gen::kinds
