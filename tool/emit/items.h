// What wrappers take for a call, one by one, and the struct types that they need for it.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace kf::gen {

/// What the host passes, in the order of manifest::Call::items. A struct that is passed whole is one argument
/// of the struct's type, that has a gradient where one of its fields has; its `element_name` is the type's.
std::vector<PlannedArgument> host_items(const PlannedCall& call);

/// What Python takes the call's parameters by.
std::vector<std::string> python_parameters_of(const PlannedCall& call);

/// A struct type, or a vector given field by field, and how the plan's calls take it.
struct UsedStruct {
    Type type;
    bool whole = false;                  ///< by value or in tensors
    bool fields = false;                 ///< field by field
    std::vector<std::string> made = {};  ///< fields that some call's kernel makes, the host giving nothing
    bool statics = false;  ///< it has static functions; alone: of such a type nothing but the name is known
    std::vector<std::string> doc = {};  ///< what is written above it, a line each
    /// For each of fields_of(type), the same.
    std::vector<std::vector<std::string>> field_docs = {};
    FieldDefaults defaults = {};  ///< of each of fields_of(type)
};

/// Each once, those that others are made of first.
std::vector<UsedStruct> used_structs(const Plan& plan);

}  // namespace kf::gen
