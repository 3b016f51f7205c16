// What the binder asks of an argument's kind, besides kinds/questions.h. Each kind answers in its own file of
// this folder.
#pragma once

#include <cstddef>
#include <optional>
#include <variant>

#include "core/kinds/buffer_binding.h"
#include "core/kinds/constant_binding.h"
#include "core/kinds/generator_binding.h"
#include "core/kinds/pointer_binding.h"
#include "core/kinds/sampler_binding.h"
#include "core/kinds/tensor_binding.h"
#include "core/kinds/texture_binding.h"
#include "core/kinds/value_binding.h"
#include "core/kinds/whole_tensor_binding.h"

namespace kf::detail {

// describe() is asked, too: it is in core/describe.h.

/// Returns what it costs to take what is given for the argument, or nothing when it can't be. The overload
/// that costs least is the one that is called.
inline std::optional<int> conversion_cost(const manifest::Argument& argument, const ArgShape& given) {
    return std::visit([&](const auto& kind) { return conversion_cost(kind, argument, given); },
                      argument.kind);
}

/// Returns how the host gives it, unless it is absent.
inline Arg::Kind given_as(const manifest::Argument& argument) {
    return std::visit([](const auto& kind) { return given_as(kind); }, argument.kind);
}

/// Sets what of the view only the argument's kind can tell from what is given, of whatever kind that is: it
/// hasn't been checked yet.
inline void read_given(const manifest::Argument& argument, const Arg& arg, ArgumentView& view) {
    std::visit([&](const auto& kind) { read_given(kind, argument, arg, view); }, argument.kind);
}

/// Throws ArgumentError unless what is given for argument `i`, which is what given_as() says, fits it.
inline void check_given(const BindRequest& request, std::size_t i) {
    std::visit([&](const auto& kind) { check_given(kind, request, i); }, request.call.arguments[i].kind);
}

/// Returns the extents of what is given, in scalars: those that feed the call's shape come first.
inline Dims flat_extents(const manifest::Argument& argument, const ArgumentView& view) {
    return std::visit([&](const auto& kind) { return flat_extents(kind, argument, view); }, argument.kind);
}

/// Throws ArgumentError for values that the parameter can't hold in a call of the binding's shape.
inline void check_values(const BindRequest& request, std::size_t i, const Binding& binding) {
    std::visit([&](const auto& kind) { check_values(kind, request, i, binding); },
               request.call.arguments[i].kind);
}

/// Sets the strides of argument `i` along the call's dimensions, or what is to be made for it.
inline void bind_view(const BindRequest& request, std::size_t i, Binding& binding) {
    std::visit([&](const auto& kind) { bind_view(kind, request, i, binding); },
               request.call.arguments[i].kind);
}

/// Returns whether a call's flat index finds the argument's scalars; sets its step.
inline bool is_flat(const BindRequest& request, std::size_t i, Binding& binding) {
    return std::visit([&](const auto& kind) { return is_flat(kind, request, i, binding); },
                      request.call.arguments[i].kind);
}

/// Returns what it demands of the texture that is given for it; nothing where none is.
inline std::optional<TextureRules> texture_rules(const manifest::Argument& argument) {
    return std::visit([](const auto& kind) { return texture_rules(kind); }, argument.kind);
}

/// Returns whether what is given is copied into the launch's temporary memory, from where kernels read it.
inline bool is_uploaded(const manifest::Argument& argument) {
    return std::visit([](const auto& kind) { return is_uploaded(kind); }, argument.kind);
}

/// Writes a record that only arguments of this kind have. `value`: the host's, or null.
inline void pack_record(const manifest::Argument& argument, const manifest::Record& record, const void* value,
                        std::byte* target) {
    std::visit([&](const auto& kind) { pack_record(kind, argument, record, value, target); }, argument.kind);
}

}  // namespace kf::detail
