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
inline std::string cpp_passed_type(const Sampler&, const PlannedArgument&, const CppStructs&) {
    return "kf::Sampler";
}
inline PythonTypes python_types(const Sampler&, const PlannedArgument&, bool) { return python_sampler; }
inline std::string described(const Sampler& sampler, const PlannedArgument&) {
    return sampler.is_comparison ? "in, comparison sampler" : "in, sampler";
}

}  // namespace kf::gen::kinds
