// Constants: their values stand in kernels as literals.
#pragma once

#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Constant;

/// A literal of exactly this value of the type, a scalar or an enum: Slang takes one without a suffix for an
/// int or a float.
std::string literal(const std::string& text, const Type& type);

inline Supply supply_of(const Constant&, const manifest::Argument&) { return Supply::made; }
std::optional<MadeValue> made_value(const Constant& constant, const MadeUse& use);
inline bool counts_calls(const Constant&) { return false; }
inline bool moves_along_calls(const Constant&, const manifest::Argument&) { return false; }
inline bool is_found_without_strides(const Constant&, const manifest::Argument&) { return true; }
/// The host passes none: in a struct that is given field by field something stands in its place.
std::string cpp_passed_type(const Constant& constant, const PlannedArgument& item, const CppStructs& structs);
PythonTypes python_types(const Constant& constant, const PlannedArgument& item, bool takes_gradient);
std::string described(const Constant& constant, const PlannedArgument& item);

}  // namespace kf::gen::kinds
