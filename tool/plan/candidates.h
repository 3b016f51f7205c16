// Which of a module's functions a call of the spec can mean.
#pragma once

#include <vector>

#include "slang/module.h"
#include "slang/type_lookup.h"
#include "spec/spec.h"

namespace kf::gen {

/// The overloads that have exactly the arguments that the call lists, generic ones too, or why there are
/// none; "this" is among the arguments of a method. Generic arguments in the call's "function" are not looked
/// at, but that only generic ones fit them. Errors: "function-unknown", "generic-argument",
/// "function-method", "argument-unknown", "argument-missing".
/// `more`: functions that the module has for this call alone; they must outlive what is returned.
Outcome<std::vector<const Function*>> find_candidates(const CallSpec& call, const Module& module,
                                                      const std::vector<Function>& more, TypeLookup& types);

/// Whether the call's "function" names it.
bool is_named(const Function& function, const CallSpec& call);

/// Whether it is of an extension of one type of a generic struct: "Box<float>.area" is its whole name.
bool is_specialised(const Function& function);

/// "T add<T : IArithmetic>(T x, T y)", for messages.
std::string signature(const Function& function);

/// "candidate: float add(float x, float y) at add.slang:3", one for each, for notes.
std::vector<std::string> candidate_notes(const std::vector<const Function*>& functions);

}  // namespace kf::gen
