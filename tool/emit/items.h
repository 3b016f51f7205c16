// The items that wrappers take for a call, one by one, and the struct types that they need for them.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace kf::gen {

/// Returns what the host passes, in the order of manifest::Call::items. A struct that is passed whole is one
/// of the struct's type, with a gradient where one of its fields has one; its `element_name` is the type's.
std::vector<PlannedArgument> host_items(const PlannedCall& call);

/// Returns the names by which Python takes the call's parameters.
std::vector<std::string> python_parameters_of(const PlannedCall& call);

/// A struct type, or a vector given field by field, and how the plan's calls take it.
struct UsedStruct {
    Type type;
    bool whole = false;                  ///< by value or in tensors
    bool fields = false;                 ///< field by field
    std::vector<std::string> made = {};  ///< fields that some call's kernel makes, the host giving nothing
    bool statics = false;  ///< it has static functions; alone: of such a type nothing but the name is known
    std::vector<std::string> doc = {};  ///< what is written above it, a line each
    /// The comment above each of fields_of(type), a line each.
    std::vector<std::vector<std::string>> field_docs = {};
    FieldDefaults defaults = {};  ///< of each of fields_of(type)
};

/// Returns the struct types, each once, those that others are made of first.
std::vector<UsedStruct> used_structs(const Plan& plan);

}  // namespace kf::gen
