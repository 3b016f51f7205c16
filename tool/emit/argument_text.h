// How a kernel spells one of its call's arguments: where it lies, and what the block holds of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/block_records.h"
#include "core/manifest.h"
#include "emit/block.h"
#include "emit/loops.h"
#include "emit/run.h"
#include "plan/plan.h"
#include "plan/types.h"
#include "slang/compiler.h"

namespace kf::gen {

/// The facts that the text of one kernel depends on.
struct KernelContext {
    const PlannedCall& call;
    PassKind pass = PassKind::forward;
    Sums sums = Sums::fast;
    bool rows = false;
    bool strided = false;  ///< by strides, in all dimensions or all but a row's
    std::vector<BlockField> fields;
    Run run;  ///< the kernel's longest, and how its calls lie
    CodeTarget target = CodeTarget::spirv;

    [[nodiscard]] bool is_exact() const { return sums == Sums::exact; }
    /// Whether the kernel knows its call's index along each dimension.
    [[nodiscard]] bool has_indices() const;
    [[nodiscard]] std::string group_size() const { return std::to_string(call.group_threads()); }
    /// The call's extent along a dimension.
    [[nodiscard]] std::string extent(std::int64_t dimension) const;
};

/// The call's index along a dimension.
std::string index_name(std::int64_t dimension);
/// The struct's part of names in the kernel; see argument_id().
std::string struct_id(const PlannedParameter& parameter);

/// Speaks of one argument of a kernel's call. The context must outlive it.
class ArgumentText {
public:
    ArgumentText(const KernelContext& of_kernel, std::int64_t number)
        : kernel(of_kernel),
          index(number),
          planned(kernel.call.arguments[static_cast<std::size_t>(index)]),
          host(planned.host),
          id(argument_id(host)) {}

    /// The argument that speaks for this one, see manifest::leader_of().
    [[nodiscard]] std::optional<ArgumentText> leader(manifest::Part part) const;

    // ---- Where its element lies ----

    [[nodiscard]] std::string pointer(const std::string& address, const std::string& offset) const;
    [[nodiscard]] std::string element(const std::string& address, const std::string& offset) const;
    /// The element's number in a contiguous tensor.
    [[nodiscard]] std::string contiguous_index() const;
    /// Returns the strides between the scalars of an element, along each of its dimensions.
    [[nodiscard]] std::vector<std::string> trailing_strides(manifest::RecordKind kind) const;
    /// Scalars from one call's element to the next in contiguous kernels.
    [[nodiscard]] std::int64_t pitch() const { return host.pitch != 0 ? host.pitch : scalars(); }
    [[nodiscard]] std::vector<std::string> dense_strides() const { return gen::dense_strides(host.trailing); }
    /// Whether a call is the first of those that share the element, by the strides of what they share.
    [[nodiscard]] std::string is_first(manifest::RecordKind kind) const;

    // ---- The scalars of an element ----

    [[nodiscard]] std::int64_t scalars() const { return scalar_count(host.trailing); }
    [[nodiscard]] std::string loop(const std::string& statement) const {
        return loop_over(host.trailing, statement);
    }
    [[nodiscard]] std::string subscripted(const std::string& place) const {
        return gen::subscripted(place, host.trailing);
    }
    /// The number of the scalar that the loops are at.
    [[nodiscard]] std::string flat_index() const { return along(dense_strides()).substr(3); }

    // ---- What memory and the block hold, and what the function takes ----

    [[nodiscard]] std::string type() const { return declared_name(planned.type); }
    [[nodiscard]] std::string scalar() const { return to_string(host.element.scalar); }
    [[nodiscard]] std::string stored_scalar() const;
    [[nodiscard]] std::string from_storage(const std::string& loaded) const;
    [[nodiscard]] std::string to_storage(const std::string& value,
                                         const std::vector<std::int64_t>& extents) const;
    /// A value of the block, where small types are wide, as the type that the function takes.
    [[nodiscard]] std::string narrowed(const std::string& value) const;

    // ---- Its records in the block ----

    [[nodiscard]] std::string record(manifest::RecordKind kind) const {
        return record_text(kernel.fields, kind, index);
    }
    [[nodiscard]] std::string value() const { return record(manifest::RecordKind::value); }
    [[nodiscard]] std::string address(manifest::RecordKind kind) const { return record(kind) + ".data"; }
    /// Along a dimension of the call.
    [[nodiscard]] std::string stride(manifest::RecordKind kind, std::int64_t dimension) const {
        return number_text(field_of(kernel.fields, kind, index), "strides", dimension);
    }
    /// Along a dimension of its own.
    [[nodiscard]] std::string own_stride(manifest::RecordKind kind, std::int64_t dimension) const;
    [[nodiscard]] std::string extent(std::int64_t dimension) const {
        return record(manifest::RecordKind::extents) + ".extents[" + std::to_string(dimension) + "]";
    }
    /// 0 where all calls share its element, else 1.
    [[nodiscard]] std::string step() const;
    [[nodiscard]] std::string mode() const { return record(manifest::RecordKind::grad_out) + ".mode"; }

    // ---- What the kernel does with it ----

    [[nodiscard]] bool writes_gradient() const { return manifest::writes_gradient(host, kernel.pass); }
    [[nodiscard]] bool sums_exactly() const { return is_summed_exactly(host, kernel.sums); }
    /// Whether its gradients are summed in memory of their own.
    [[nodiscard]] bool has_scratch() const { return needs_scratch(host, kernel.pass, kernel.sums); }

    const KernelContext& kernel;
    std::int64_t index;
    const PlannedArgument& planned;
    const manifest::Argument& host;
    std::string id;  ///< its part of names in the kernel

private:
    [[nodiscard]] bool is_enum() const { return innermost_of(planned.type).is_enum; }
};

/// A parameter's leaves.
std::vector<ArgumentText> leaves_of(const KernelContext& kernel, const PlannedParameter& parameter);

}  // namespace kf::gen
