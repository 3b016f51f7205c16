// How kernels make a generator's value.
#include "emit/generator.h"

#include <algorithm>

#include "core/generator_rules.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Argument;
using manifest::SlotKind;

std::string field(const GeneratorUse& use, SlotKind kind, std::int64_t dimension = -1) {
    return "kf_args." + field_of(use.fields, kind, use.index, dimension);
}

/// Index number `i` of those that the parameter takes, in NumPy's order.
std::string index_text(const GeneratorUse& use, std::int64_t i) {
    const Argument& argument = use.planned.host;
    const auto at = static_cast<std::size_t>(i);
    if (generator_of(argument) == GeneratorKind::call_id) return use.indices[at];
    if (generator_of(argument) == GeneratorKind::thread_id) return i + 1 == argument.rank ? "kf_call" : "0";
    const std::int64_t dimension = argument.map[at];
    return field(use, SlotKind::offset, i) + " + " + use.indices[static_cast<std::size_t>(dimension)] +
           " * " + field(use, SlotKind::stride, dimension);
}

/// A call of kf.take_hash, kf.take_floats<3> …
std::string taken(const GeneratorUse& use, const std::string& form, const std::string& hash) {
    if (generator_of(use.planned.host) == GeneratorKind::wang_hash) {
        return "kf.take_hash" + (form.empty() ? form : "e" + form) + "(" + hash + ")";
    }
    return "kf.take_float" + form + "(" + hash + ", " + field(use, SlotKind::low) + ", " +
           field(use, SlotKind::span) + ", " + field(use, SlotKind::last) + ")";
}

}  // namespace

bool needs_indices(const PlannedCall& call) {
    return call.rank > 1 &&
           std::any_of(call.arguments.begin(), call.arguments.end(), [](const auto& argument) {
               return generator_of(argument.host) == GeneratorKind::call_id ||
                      is_spread(generator_of(argument.host));
           });
}

bool is_generated_by_scalars(const PlannedArgument& planned) {
    return is_random(generator_of(planned.host)) && is_looped(planned);
}

std::string first_hash(const GeneratorUse& use) {
    return "kf.wang_hash(kf_call, " + field(use, SlotKind::seed) + ", " + field(use, SlotKind::warmup) + ")";
}

std::string next_scalar(const GeneratorUse& use, const std::string& hash) {
    return to_string(use.planned.host.element.scalar) + "(" + taken(use, "", hash) + ")";
}

std::string generated_value(const GeneratorUse& use) {
    const Argument& argument = use.planned.host;
    const TypeKind kind = use.planned.type.kind;
    const std::string type = declared_name(use.planned.type);
    const std::int64_t count = scalar_count(argument.trailing);
    if (is_random(generator_of(argument))) {
        const std::string numbers = taken(use, "s<" + std::to_string(count) + ">", first_hash(use));
        return type + "(" + numbers + (kind == TypeKind::scalar ? ".x)" : ")");
    }
    std::string list;
    for (std::int64_t i = 0; i < count; ++i) {
        // The x of a vector is the last dimension.
        const std::int64_t at = kind == TypeKind::vector ? count - 1 - i : i;
        list += (i == 0 ? "" : ", ") + to_string(argument.element.scalar) + "(" + index_text(use, at) + ")";
    }
    if (kind == TypeKind::scalar) return list;
    return kind == TypeKind::vector ? type + "(" + list + ")" : "{ " + list + " }";
}

}  // namespace kf::gen
