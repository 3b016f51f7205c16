// Builds manifests as kfgen would, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/artifact.h"
#include "core/block_records.h"
#include "core/interface.h"
#include "core/items.h"
#include "core/manifest.h"
#include "core/resource_list.h"

namespace kf::test {

using namespace manifest;

inline Argument value(std::string name, ScalarType scalar = ScalarType::float32,
                      std::vector<std::int64_t> extents = {}) {
    Argument argument;
    argument.name = std::move(name);
    argument.element = {scalar, extents};
    argument.trailing = std::move(extents);
    return argument;
}

/// A tensor whose dimensions all feed the call; its element's extents are trailing. Aligned at the last
/// dimension by call_of().
inline Argument tensor(std::string name, std::int64_t rank, ScalarType scalar = ScalarType::float32,
                       std::vector<std::int64_t> extents = {}) {
    Argument argument = value(std::move(name), scalar, std::move(extents));
    argument.kind = kinds::Tensor{};
    argument.rank = rank;
    argument.call_rank = rank;
    return argument;
}

/// A parameter that is a buffer; of bytes where its scalars are uint8.
inline Argument buffer(std::string name, Access access, ScalarType scalar = ScalarType::float32,
                       std::vector<std::int64_t> extents = {}) {
    Argument argument = value(std::move(name), scalar, std::move(extents));
    argument.kind = kinds::Buffer{access, scalar == ScalarType::uint8};
    argument.rank = argument.inner_rank = 1;
    return argument;
}

/// A parameter that is a 2D texture; written in the format, if any.
inline Argument texture(std::string name, std::string format = {}, std::vector<std::int64_t> extents = {4}) {
    Argument argument = value(std::move(name), ScalarType::float32, std::move(extents));
    kinds::Texture kind;
    kind.access = format.empty() ? Access::read : Access::read_write;
    kind.format = std::move(format);
    argument.kind = std::move(kind);
    argument.rank = argument.inner_rank = 2;
    return argument;
}

/// The same that feeds calls texel by texel.
inline Argument texels(std::string name, std::string format = {}) {
    Argument argument = texture(std::move(name), std::move(format));
    std::get<kinds::Texture>(argument.kind).per_pixel = true;
    argument.call_rank = argument.rank;
    argument.inner_rank = 0;
    if (std::get<kinds::Texture>(argument.kind).access != Access::read) argument.role = Role::out;
    return argument;
}

inline Argument sampler(std::string name, bool is_comparison = false) {
    Argument argument = value(std::move(name));
    argument.kind = kinds::Sampler{is_comparison};
    return argument;
}

inline Argument as(Role role, Argument argument) {
    argument.role = role;
    argument.differentiable = argument.element.scalar >= ScalarType::float16;
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

/// Sets a call's trees: each argument is one, a leaf.
inline void set_leaves(Call& call) {
    call.parameters.clear();
    for (const Argument& argument : call.arguments) {
        ParameterTree& leaf = call.parameters.emplace_back();
        leaf.name = argument.name;
        leaf.leaf = static_cast<std::int64_t>(call.parameters.size()) - 1;
    }
    call.items = items_of(call.parameters);
    call.resources = resource_arguments(call);
}

/// Gives a kernel the records that its call has in the pass, laid out for the target "fake".
inline void set_records(Kernel& kernel, const Call& call, const BlockUse& use) {
    kernel.variant = use.variant;
    kernel.records = block_records(call, use);
    BlockLayout layout;
    for (const Record& record : kernel.records) {
        const std::int64_t alignment = record_alignment(call, record);
        layout.offsets.push_back((layout.size + alignment - 1) / alignment * alignment);
        layout.size = layout.offsets.back() + record_bytes(call, record);
    }
    kernel.resources = resource_slots(call);
    for (const ResourceSlot& slot : kernel.resources) {
        layout.resource_places.push_back((layout.size + handle_alignment - 1) / handle_alignment *
                                         handle_alignment);
        layout.size = layout.resource_places.back() + handle_bytes(slot);
    }
    kernel.layouts["fake"] = layout;
    for (Image& image : kernel.images) {
        image.entry_point = with_interface("main", interface_of(call, kernel, use.exact));
    }
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
        set_leaves(call);
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
        const PassKind pass = backward ? PassKind::backward : PassKind::forward;
        set_records(kernel, call, {pass, variant});
        kernel.source_hash = kernel.name + std::to_string(manifest_.kernels.size());
        Image image;
        image.format = "fake";
        image.entry_point = with_interface("main", interface_of(call, kernel, false));
        image.features = {"float16"};
        image.bytes =
            std::vector{std::byte{1}, std::byte{2}, static_cast<std::byte>(manifest_.kernels.size())};
        kernel.images.push_back(image);
        manifest_.kernels.push_back(kernel);
        return static_cast<std::int64_t>(manifest_.kernels.size()) - 1;
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
