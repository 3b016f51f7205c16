// Pointers in kernels: the block has an address, which the function gets as a pointer of its own type.
#pragma once

#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Pointer;

inline Supply supply_of(const Pointer&, const manifest::Argument&) { return Supply::made; }
std::optional<MadeValue> made_value(const Pointer& pointer, const MadeUse& use);
inline bool counts_calls(const Pointer&) { return false; }
inline bool moves_along_calls(const Pointer&, const manifest::Argument&) { return false; }
inline bool is_found_without_strides(const Pointer&, const manifest::Argument&) { return true; }
std::string cpp_passed_type(const Pointer& pointer, const PlannedArgument& item, const CppStructs& structs);
PythonTypes python_types(const Pointer& pointer, const PlannedArgument& item, bool takes_gradient);
std::string described(const Pointer& pointer, const PlannedArgument& item);

}  // namespace kf::gen::kinds
