// Words of a kernel about one of its call's arguments: where it lies, and what the block holds of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/manifest.h"
#include "emit/block.h"
#include "emit/kernel_text.h"
#include "emit/loops.h"
#include "plan/plan.h"
#include "plan/types.h"

namespace kf::gen {

/// Speaks of the argument that was selected last. `call` must outlive it.
class ArgumentText {
public:
    ArgumentText(const PlannedCall& call, PassKind pass, manifest::Variant variant,
                 std::vector<BlockField> fields)
        : call_(call),
          pass_(pass),
          strided_(variant != manifest::Variant::contiguous),
          rows_(variant == manifest::Variant::rows),
          fields_(std::move(fields)) {}

protected:
    void select(std::size_t position) {
        planned_ = &call_.arguments[position];
        index_ = static_cast<std::int64_t>(position);
    }

    /// Selects each leaf of a parameter in turn.
    template <class Visit>
    void for_each_field(const PlannedParameter& parameter, Visit visit) {
        for (std::int64_t i = parameter.host.leaf; i < parameter.host.leaf + parameter.host.leaves; ++i) {
            select(static_cast<std::size_t>(i));
            visit();
        }
    }

    // ---- Where its element lies ----

    std::string pointer(const std::string& address, const std::string& offset) const {
        return strided_ ? "kf.at(" + address + ", " + offset + ")" : address + " + " + offset;
    }
    std::string element(const std::string& address, const std::string& offset) const {
        return strided_ ? pointer(address, offset) + "[0]" : address + "[" + offset + "]";
    }

    std::string contiguous_index() const {
        if (host().role != manifest::Role::in && !is_combined(host())) return "kf_call";
        if (host().call_rank == 0) return "0";
        return "kf_call * " + args(manifest::SlotKind::step);
    }

    /// Between the scalars of an element, along each of its dimensions.
    std::vector<std::string> trailing_strides(manifest::SlotKind kind) const {
        std::vector<std::string> strides;
        if (rows_ || (!strided_ && (host().spacing.empty() || host().pitch == 0))) return dense_strides();
        for (std::size_t i = 0; !strided_ && i < host().spacing.size(); ++i) {
            strides.push_back(std::to_string(host().spacing[i]));
        }
        if (!strided_) return strides;
        for (std::size_t i = 0; i < host().trailing.size(); ++i) {
            strides.push_back(args(kind, static_cast<std::int64_t>(i)));
        }
        return strides;
    }

    /// Scalars from one call's element to the next in contiguous kernels.
    std::int64_t pitch() const { return host().pitch != 0 ? host().pitch : scalar_count(host().trailing); }

    std::vector<std::string> dense_strides() const { return gen::dense_strides(host().trailing); }

    std::string loop(const std::string& statement) const { return loop_over(host().trailing, statement); }
    std::string subscripted(const std::string& place) const {
        return gen::subscripted(place, host().trailing);
    }
    std::string flat_index() const { return along(dense_strides()).substr(3); }

    // ---- What memory and the block hold, and what the function takes ----

    std::string stored_scalar() const {
        const ScalarType scalar = host().element.scalar;
        return to_string(scalar == ScalarType::boolean ? ScalarType::uint8 : scalar);
    }

    std::string from_storage(const std::string& loaded) const {
        if (is_enum()) return innermost_of(planned_->type).name + "(" + loaded + ")";
        return host().element.scalar == ScalarType::boolean ? loaded + " != 0" : loaded;
    }

    std::string to_storage(const std::string& value, const std::vector<std::int64_t>& extents) const {
        // Enums are looped over where they are several.
        if (is_enum()) return stored_scalar() + "(" + value + ")";
        if (host().element.scalar != ScalarType::boolean) return value;
        return slang_name(manifest::Element{ScalarType::uint8, extents}) + "(" + value + ")";
    }

    bool is_enum() const { return innermost_of(planned_->type).is_enum; }

    std::string narrowed(const std::string& value) const {
        if (is_enum()) return from_storage(stored_scalar() + "(" + value + ")");
        return gen::narrowed(value, host().element.scalar, slang_type());
    }

    // ---- Names ----

    static std::string struct_id(const PlannedParameter& parameter) {
        return parameter.role == manifest::Role::result ? "return" : parameter.host.name;
    }

    static std::string index_name(std::int64_t dimension) { return "kf_index" + std::to_string(dimension); }

    const manifest::Argument& host() const { return planned_->host; }

    std::string slang_type() const { return declared_name(planned_->type); }

    const std::string& field(manifest::SlotKind kind, std::int64_t dimension = -1) const {
        return field_of(fields_, kind, index_, dimension);
    }

    std::string args(manifest::SlotKind kind, std::int64_t dimension = -1) const {
        return "kf_args." + field(kind, dimension);
    }

    std::string argument_field(manifest::SlotKind kind, std::int64_t argument, std::int64_t dimension) const {
        return "kf_args." + field_of(fields_, kind, argument, dimension);
    }

    const PlannedCall& call_;
    PassKind pass_;
    bool strided_;  ///< by strides, in all dimensions or all but a row's
    bool rows_;
    std::vector<BlockField> fields_;

    // The argument being written, and its index.
    const PlannedArgument* planned_ = nullptr;
    std::int64_t index_ = 0;
};

}  // namespace kf::gen
