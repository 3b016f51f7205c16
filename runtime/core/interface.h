// What a kernel's code relies on, in a few words that are part of its entry point's name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/manifest.h"

namespace kf::manifest {

/// 16 hex digits for the kernel's shape, its slots, its resources and all that its code was generated for of
/// the arguments that they belong to: element types, dimensions, places in structs. Of the kernel everything
/// but names, layouts and images counts. `exact`: its sums don't depend on the order.
[[nodiscard]] std::string interface_of(const Call& call, const Kernel& kernel, bool exact);

/// "kf_add_forward_strided_0123456789abcdef": code and manifest that were not made together can't agree on
/// it.
[[nodiscard]] std::string with_interface(const std::string& entry_point, const std::string& interface);
[[nodiscard]] bool has_interface(const std::string& entry_point, const std::string& interface);

/// The names of a SPIR-V module's entry points; none where the words aren't whole instructions.
[[nodiscard]] std::vector<std::string> spirv_entry_points(std::span<const std::byte> code);
/// The module with its only entry point called so; nothing where it has more or none.
[[nodiscard]] std::vector<std::byte> with_entry_point(std::span<const std::byte> code,
                                                      const std::string& name);

}  // namespace kf::manifest
