// Buffers in kernels: the function is handed what is bound.
#pragma once

#include <string>

#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Buffer;

inline Supply supply_of(const Buffer&, const manifest::Argument&) { return Supply::bound; }
std::optional<MadeValue> made_value(const Buffer& buffer, const MadeUse& use);
inline bool counts_calls(const Buffer&) { return false; }
inline bool moves_along_calls(const Buffer&, const manifest::Argument&) { return false; }
inline bool is_found_without_strides(const Buffer&, const manifest::Argument&) { return true; }
std::string cpp_passed_type(const Buffer& buffer, const PlannedArgument& item, const CppStructs& structs);
PythonTypes python_types(const Buffer& buffer, const PlannedArgument& item, bool takes_gradient);
std::string described(const Buffer& buffer, const PlannedArgument& item);

}  // namespace kf::gen::kinds

namespace kf::gen {

/// "kf_bound_positions": the resource of that name, as kernels call it.
[[nodiscard]] std::string bound_name(const std::string& resource);

/// Returns whether an argument is a ByteAddressBuffer or an RWByteAddressBuffer.
[[nodiscard]] bool has_byte_addresses(const PlannedArgument& argument);

/// Errors ("type-not-supported") for byte addresses in arrays, which Slang makes no SPIR-V of.
[[nodiscard]] Diagnostics check_spirv_arrays(const PlannedCall& call);

/// Errors ("struct-layout") for buffers and pointers whose elements lie elsewhere in CUDA than on the host.
[[nodiscard]] Diagnostics check_cuda_layouts(const PlannedCall& call);

}  // namespace kf::gen
