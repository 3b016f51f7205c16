// Generators: how kernels make their values, and what hosts give for them.
#pragma once

#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Generator;

inline Supply supply_of(const Generator&, const manifest::Argument&) { return Supply::made; }
std::optional<MadeValue> made_value(const Generator& generator, const MadeUse& use);
inline bool counts_calls(const Generator&) { return true; }
inline bool moves_along_calls(const Generator&, const manifest::Argument&) { return false; }
inline bool is_found_without_strides(const Generator&, const manifest::Argument&) { return true; }
std::string cpp_passed_type(const Generator& generator, const PlannedArgument& item,
                            const CppStructs& structs);
PythonTypes python_types(const Generator& generator, const PlannedArgument& item, bool takes_gradient);
std::string described(const Generator& generator, const PlannedArgument& item);

}  // namespace kf::gen::kinds
