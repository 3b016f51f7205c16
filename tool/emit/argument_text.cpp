// Spells one argument of a kernel's call.
#include "emit/argument_text.h"

#include <algorithm>

#include "emit/kernel_text.h"
#include "emit/kinds/questions.h"
#include "emit/loops.h"
#include "emit/text.h"
#include "plan/types.h"

namespace kf::gen {

using manifest::RecordKind;

bool KernelContext::has_indices() const { return (strided && call.rank > 0) || needs_indices(call); }

std::string KernelContext::extent(std::int64_t dimension) const {
    return number_text(field_of(fields, RecordKind::shape), "extents", dimension);
}

std::string index_name(std::int64_t dimension) { return "kf_index" + std::to_string(dimension); }

std::string struct_id(const PlannedParameter& parameter) {
    return parameter.role == manifest::Role::result ? "return" : as_identifier(parameter.host.name);
}

std::optional<ArgumentText> ArgumentText::leader(manifest::Part part) const {
    const std::int64_t found = leader_of(kernel.call, index, part, kernel.sums);
    if (found < 0) return {};
    return ArgumentText(kernel, found);
}

std::string ArgumentText::pointer(const std::string& address, const std::string& offset) const {
    return kernel.strided ? "kf.at(" + address + ", " + offset + ")" : address + " + " + offset;
}

std::string ArgumentText::element(const std::string& address, const std::string& offset) const {
    return kernel.strided ? pointer(address, offset) + "[0]" : address + "[" + offset + "]";
}

std::string ArgumentText::contiguous_index() const {
    if (host.role != manifest::Role::in && !is_combined(host)) return "kf_call";
    if (host.call_rank == 0) return "0";
    return "kf_call * " + step();
}

std::vector<std::string> ArgumentText::trailing_strides(RecordKind kind) const {
    std::vector<std::string> strides;
    if (kernel.rows || (!kernel.strided && (host.spacing.empty() || host.pitch == 0))) return dense_strides();
    if (!kernel.strided) {
        for (const std::int64_t scalars : host.spacing) strides.push_back(std::to_string(scalars));
        return strides;
    }
    for (std::size_t i = 0; i < host.trailing.size(); ++i) {
        strides.push_back(own_stride(kind, static_cast<std::int64_t>(i)));
    }
    return strides;
}

std::string ArgumentText::is_first(RecordKind kind) const {
    std::string text;
    for (std::int64_t d = 0; d < kernel.call.rank; ++d) {
        const bool moves = std::find(host.map.begin(), host.map.end(), d) != host.map.end();
        const std::string here = index_name(d) + " == 0";
        text +=
            (text.empty() ? "" : " && ") + (moves ? "(" + stride(kind, d) + " != 0 || " + here + ")" : here);
    }
    return text;
}

std::string ArgumentText::own_stride(RecordKind kind, std::int64_t dimension) const {
    const BlockField& field = field_of(kernel.fields, kind, index);
    const auto at = static_cast<std::int64_t>(field.record.dimensions.size()) + dimension;
    return record(kind) + ".strides[" + std::to_string(at) + "]";
}

std::string ArgumentText::step() const {
    const RecordKind kind = is_combined(host) ? RecordKind::step : RecordKind::data;
    return record(kind) + (kind == RecordKind::data ? ".step" : "");
}

std::string ArgumentText::stored_scalar() const {
    return host.element.scalar == ScalarType::boolean ? to_string(ScalarType::uint8) : scalar();
}

std::string ArgumentText::from_storage(const std::string& loaded) const {
    if (is_enum()) return innermost_of(planned.type).name + "(" + loaded + ")";
    return host.element.scalar == ScalarType::boolean ? loaded + " != 0" : loaded;
}

std::string ArgumentText::to_storage(const std::string& value,
                                     const std::vector<std::int64_t>& extents) const {
    // Enums are looped over where they are several.
    if (is_enum()) return stored_scalar() + "(" + value + ")";
    if (host.element.scalar != ScalarType::boolean) return value;
    return slang_name(manifest::Element{ScalarType::uint8, extents}) + "(" + value + ")";
}

std::string ArgumentText::narrowed(const std::string& value) const {
    if (is_enum()) return from_storage(stored_scalar() + "(" + value + ")");
    return gen::narrowed(value, host.element.scalar, type());
}

std::vector<ArgumentText> leaves_of(const KernelContext& kernel, const PlannedParameter& parameter) {
    std::vector<ArgumentText> leaves;
    for (std::int64_t i = parameter.host.leaf; i < parameter.host.leaf + parameter.host.leaves; ++i)
        leaves.emplace_back(kernel, i);
    return leaves;
}

}  // namespace kf::gen
