// Builds manifests as kfgen would, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/artifact.h"
#include "core/manifest.h"

namespace kf::test {

using namespace manifest;

inline Argument value(std::string name, Scalar scalar = Scalar::float32,
                      std::vector<std::int64_t> extents = {}) {
    Argument argument;
    argument.name = std::move(name);
    argument.kind = ArgumentKind::value;
    argument.element = {scalar, extents};
    argument.trailing = std::move(extents);
    return argument;
}

/// A tensor whose dimensions all feed the call; its element's extents are trailing. Aligned at the last
/// dimension by call_of().
inline Argument tensor(std::string name, std::int64_t rank, Scalar scalar = Scalar::float32,
                       std::vector<std::int64_t> extents = {}) {
    Argument argument = value(std::move(name), scalar, std::move(extents));
    argument.kind = ArgumentKind::tensor;
    argument.rank = rank;
    argument.call_rank = rank;
    return argument;
}

inline Argument as(Role role, Argument argument) {
    argument.role = role;
    argument.differentiable = argument.element.scalar >= Scalar::float16;
    return argument;
}

inline Argument with_gradient(Argument argument, Gradient gradient = Gradient::automatic) {
    argument.differentiable = true;
    argument.gradient = gradient;
    return argument;
}

inline bool is_input(const Argument& argument) {
    return argument.role == Role::in || argument.role == Role::inout;
}

class ManifestBuilder {
public:
    ManifestBuilder() {
        manifest_.name = "sample";
        manifest_.producers = {{"kfgen", "0.1.0"}, {"slang", "2026.12"}};
    }

    /// Adds a call to function `name`, with all four kernels. Maps are aligned at the last dimension where
    /// they aren't set.
    ManifestBuilder& add(const std::string& name, std::vector<Argument> arguments, bool backward = true,
                         std::int64_t rank = -1) {
        Call call;
        for (const Argument& argument : arguments) {
            call.rank = std::max(call.rank, argument.call_rank);
        }
        call.rank = std::max(call.rank, rank);
        for (Argument& argument : arguments) {
            if (argument.map.empty()) {
                for (std::int64_t i = 0; i < argument.call_rank; ++i) {
                    argument.map.push_back(call.rank - argument.call_rank + i);
                }
            }
        }
        call.arguments = std::move(arguments);
        call.has_backward = backward;
        call.forward = {add_kernel(name, call, false, Variant::contiguous),
                        add_kernel(name, call, false, Variant::strided)};
        if (backward) {
            call.backward = {add_kernel(name, call, true, Variant::contiguous),
                             add_kernel(name, call, true, Variant::strided)};
        }
        for (Function& function : manifest_.functions) {
            if (function.name == name) {
                function.calls.push_back(call);
                return *this;
            }
        }
        manifest_.functions.push_back({name, "Documented.", {call}, -1});
        return *this;
    }

    Manifest& get() { return manifest_; }

private:
    std::int64_t add_kernel(const std::string& name, const Call& call, bool backward, Variant variant) {
        Kernel kernel;
        kernel.name = name + (backward ? ".backward" : ".forward") +
                      (variant == Variant::contiguous ? ".contiguous" : ".strided");
        kernel.variant = variant;
        kernel.group_size = {64, 1, 1};
        kernel.slots = slots(call, backward, variant == Variant::strided);
        BlockLayout layout;
        for (const Slot& slot : kernel.slots) {
            layout.size = (layout.size + 7) / 8 * 8;
            layout.offsets.push_back(layout.size);
            layout.size += artifact::slot_size(call, slot);
        }
        kernel.layouts["fake"] = layout;
        kernel.source_hash = kernel.name + std::to_string(manifest_.kernels.size());
        Image image;
        image.format = "fake";
        image.entry_point = "main";
        image.features = {"float16"};
        image.bytes =
            std::vector{std::byte{1}, std::byte{2}, static_cast<std::byte>(manifest_.kernels.size())};
        kernel.images.push_back(image);
        manifest_.kernels.push_back(kernel);
        return static_cast<std::int64_t>(manifest_.kernels.size()) - 1;
    }

    static std::vector<Slot> slots(const Call& call, bool backward, bool strided) {
        std::vector<Slot> result{{SlotKind::total, -1, -1}, {SlotKind::groups, -1, -1}};
        bool counter = false;
        for (std::int64_t d = 0; strided && d < call.rank; ++d) {
            result.push_back({SlotKind::shape, -1, d});
        }
        const auto strides = [&](const Argument& argument, std::int64_t i, SlotKind call_kind,
                                 SlotKind trailing) {
            for (const std::int64_t d : argument.map) {
                result.push_back({call_kind, i, d});
            }
            for (std::size_t k = 0; k < argument.trailing.size(); ++k) {
                result.push_back({trailing, i, static_cast<std::int64_t>(k)});
            }
        };
        for (std::size_t n = 0; n < call.arguments.size(); ++n) {
            const Argument& argument = call.arguments[n];
            const auto i = static_cast<std::int64_t>(n);
            if (argument.kind == ArgumentKind::generator) {
                for (std::int64_t d = 0; d < argument.call_rank; ++d) {
                    result.push_back({SlotKind::offset, i, d});
                }
                continue;
            }
            if (!backward || is_input(argument)) {
                if (argument.kind == ArgumentKind::value && argument.role == Role::in) {
                    result.push_back({SlotKind::value, i, -1});
                } else {
                    result.push_back({SlotKind::address, i, -1});
                    if (strided) {
                        strides(argument, i, SlotKind::stride, SlotKind::trailing_stride);
                    } else if (argument.role == Role::in) {
                        result.push_back({SlotKind::step, i, -1});
                    }
                }
            }
            if (backward && argument.differentiable && argument.role != Role::in) {
                result.push_back({SlotKind::grad_in, i, -1});
                if (strided) {
                    strides(argument, i, SlotKind::grad_in_stride, SlotKind::grad_in_trailing_stride);
                }
            }
            if (backward && is_input(argument) && argument.gradient != Gradient::never) {
                result.push_back({SlotKind::grad_out, i, -1});
                result.push_back({SlotKind::grad_mode, i, -1});
                if (strided) {
                    strides(argument, i, SlotKind::grad_out_stride, SlotKind::grad_out_trailing_stride);
                }
                if (argument.element.scalar == Scalar::float16) {
                    counter = true;
                    result.push_back({SlotKind::scratch, i, -1});
                    result.push_back({SlotKind::scratch_count, i, -1});
                    for (std::size_t d = 0; strided && d < argument.map.size(); ++d) {
                        result.push_back({SlotKind::scratch_stride, i, argument.map[d]});
                    }
                }
            }
        }
        if (counter) {
            result.push_back({SlotKind::counter, -1, -1});
        }
        return result;
    }

    Manifest manifest_;
};

/// y = a x^2 + b x + c over a tensor[1] x.
inline Manifest polynomial() {
    ManifestBuilder builder;
    builder.add("polynomial",
                {with_gradient(value("a")), with_gradient(value("b")), with_gradient(value("c")),
                 with_gradient(tensor("x", 1)), as(Role::result, tensor("result", 1))});
    return builder.get();
}

}  // namespace kf::test
