// Samplers in kernels: the function is handed what is bound.
#pragma once

#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Sampler;

inline Supply supply_of(const Sampler&, const manifest::Argument&) { return Supply::bound; }
std::optional<MadeValue> made_value(const Sampler& sampler, const MadeUse& use);
inline bool counts_calls(const Sampler&) { return false; }
inline bool moves_along_calls(const Sampler&, const manifest::Argument&) { return false; }
inline bool is_found_without_strides(const Sampler&, const manifest::Argument&) { return true; }
std::string cpp_passed_type(const Sampler& sampler, const PlannedArgument& item, const CppStructs& structs);
PythonTypes python_types(const Sampler& sampler, const PlannedArgument& item, bool takes_gradient);
std::string described(const Sampler& sampler, const PlannedArgument& item);

}  // namespace kf::gen::kinds
