// Values: in the block or in memory, and by value on the host.
#pragma once

#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Value;

inline Supply supply_of(const Value& value, const manifest::Argument& argument) {
    return lies_in_block(value, argument) ? Supply::block : Supply::memory;
}
inline std::optional<MadeValue> made_value(const Value&, const MadeUse&) { return {}; }
inline bool counts_calls(const Value&) { return false; }
inline bool moves_along_calls(const Value&, const manifest::Argument& argument) {
    return argument.call_rank > 0;
}
inline bool is_found_without_strides(const Value&, const manifest::Argument& argument) {
    return argument.call_rank == 0;
}
inline std::string cpp_passed_type(const Value&, const PlannedArgument& item, const CppStructs& structs) {
    return structs.type(item);
}
PythonTypes python_types(const Value& value, const PlannedArgument& item, bool takes_gradient);
std::string described(const Value& value, const PlannedArgument& item);

}  // namespace kf::gen::kinds

namespace kf::gen {

/// Returns the types that Python takes for one element by value. `vector`: every component may be one number,
/// and they may be given by name.
PythonTypes value_types(const manifest::Element& element, bool takes_gradient, bool vector);

/// Returns the types that Python takes for a struct of Slang's own beside an object: an optional's value, a
/// tuple. Other structs have none.
PythonTypes own_types(const Type& type);

}  // namespace kf::gen
