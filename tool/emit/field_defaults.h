// The values that a struct's fields have where nobody gives them: how they are found, and written in C++ and
// Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"
#include "slang/kernel_source.h"
#include "slang/module.h"

namespace kf::gen {

/// A struct that is made in the ways that Slang has, without anything given that is known.
struct MadeStruct {
    Type type;
    std::vector<std::string> ways;  ///< "{}", or a call of each constructor
    bool has_constructors = false;

    /// Whether a field may have a default value: it has its own, or constructors may give it one.
    [[nodiscard]] bool may_have_default(const Field& field) const;
};

/// Returns the plan's and the globals' structs with such fields, but for those that are the user's own on the
/// host. `functions`: the modules', among which their constructors are.
std::vector<MadeStruct> made_structs(const Plan& plan, const std::vector<Function>& functions,
                                     const std::vector<GlobalParameter>& globals);

/// Returns how many numbers a field of this type has; nothing where it has others than numbers, or too many.
std::optional<std::size_t> number_count(const Type& type);

/// A kernel that makes each struct in each of its ways, and stores the numbers of the fields that may have
/// default values, in order.
Outcome<KernelSource> emit_field_defaults(const Plan& plan, const std::vector<MadeStruct>& structs);

/// Returns what stands between the braces that initialise a variable of the type. `numbers`: bits, in order.
std::string cpp_initialiser(const Type& type, std::span<const std::uint64_t> numbers);

/// Returns a literal of Python's: vectors, matrices and arrays are lists. `class_of`: what makes a struct.
std::string python_literal(const Type& type, std::span<const std::uint64_t> numbers,
                           const std::function<std::string(const Type&)>& class_of);

/// Returns a number in each language.
std::string cpp_number(ScalarType scalar, std::uint64_t bits);
std::string python_number(ScalarType scalar, std::uint64_t bits);

}  // namespace kf::gen
