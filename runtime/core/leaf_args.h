// What the host gave for each leaf of a call's arguments, and where its scalars lie.
#pragma once

#include <kf/invoke.h>

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/bind.h"
#include "core/device_state.h"
#include "core/manifest.h"

namespace kf::detail {

/// A tensor's scalars: its own dimensions, then its element's.
[[nodiscard]] ScalarView flatten(const AnyTensor& tensor);
/// One field of a tensor of structs, or of one of scalars whose last dimensions hold those of structs.
[[nodiscard]] ScalarView flatten_field(const AnyTensor& tensor, const manifest::Argument& field);

/// Tells whether some of the `given` items are structs that are passed whole.
[[nodiscard]] bool gives_structs(const manifest::Call& call, std::size_t given);
/// Adds what was given for each leaf: fields of structs that were given whole, too.
void add_leaves(const manifest::Call& call, std::span<const Arg> given, std::pmr::vector<Arg>& leaves);

/// Tells whether the host asks for a tensor of one element for a value that is an output: it doesn't say
/// where to write the value.
[[nodiscard]] bool asks_for_tensor(const manifest::Argument& argument, const Arg& given);
/// Returns a tensor of one element that lies `offset` bytes into an allocation.
[[nodiscard]] AnyTensor one_element(std::shared_ptr<DeviceState> device,
                                    std::shared_ptr<driver::Allocation> allocation, std::uint64_t offset,
                                    const ElementType& element);

}  // namespace kf::detail
