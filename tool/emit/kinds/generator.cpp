// Generators.
#include "emit/kinds/generator.h"

#include <algorithm>

#include "core/generator_rules.h"
#include "plan/types.h"

namespace kf::gen::kinds {

namespace {

using manifest::Argument;
using manifest::RecordKind;

/// The record that all of it is in.
std::string record_of(const MadeUse& use) {
    const bool hash = std::get<Generator>(use.planned.host.kind).generator == GeneratorKind::wang_hash;
    return record_text(use.fields, hash ? RecordKind::hash : RecordKind::random, use.index);
}

/// Index number `i` of those that the parameter takes, in NumPy's order.
std::string index_text(const MadeUse& use, std::int64_t i) {
    const Argument& argument = use.planned.host;
    const GeneratorKind generator = std::get<Generator>(argument.kind).generator;
    const auto at = static_cast<std::size_t>(i);
    if (generator == GeneratorKind::call_id) return use.indices[at];
    if (generator == GeneratorKind::thread_id) return i + 1 == argument.rank ? "kf_call" : "0";
    const std::int64_t dimension = argument.map[at];
    const BlockField& grid = field_of(use.fields, RecordKind::grid, use.index);
    // The lowest 32 bits of the sum are those of its parts, and cost a fraction.
    const ScalarType scalar = argument.element.scalar;
    const char* const part = scalar == ScalarType::int32 || scalar == ScalarType::uint32 ? "uint" : "";
    return std::string(part) + "(" + number_text(grid, "offsets", dimension) + ") + " + part + "(" +
           use.indices[static_cast<std::size_t>(dimension)] + ") * " + part + "(" +
           number_text(grid, "strides", dimension) + ")";
}

/// A call of kf.take_hash, kf.take_floats<3> …
std::string taken(const MadeUse& use, const std::string& form, const std::string& hash) {
    if (std::get<Generator>(use.planned.host.kind).generator == GeneratorKind::wang_hash) {
        return "kf.take_hash" + (form.empty() ? form : "e" + form) + "(" + hash + ")";
    }
    return "kf.take_float" + form + "(" + hash + ", " + record_of(use) + ".low, " + record_of(use) +
           ".span, " + record_of(use) + ".last)";
}

std::string first_hash(const MadeUse& use) {
    return "kf.wang_hash(kf_call, " + record_of(use) + ".seed, " + record_of(use) + ".warmup)";
}

}  // namespace

std::optional<MadeValue> made_value(const Generator& generator, const MadeUse& use) {
    const Argument& argument = use.planned.host;
    const bool random = is_random(generator.generator);
    if (random && is_looped(use.planned)) {
        return MadeValue{
            {}, first_hash(use), to_string(argument.element.scalar) + "(" + taken(use, "", use.state) + ")"};
    }
    const TypeKind kind = use.planned.type.kind;
    const std::string type = declared_name(use.planned.type);
    const std::int64_t count = scalar_count(argument.trailing);
    if (random) {
        const std::string numbers = taken(use, "s<" + std::to_string(count) + ">", first_hash(use));
        return MadeValue{type + "(" + numbers + (kind == TypeKind::scalar ? ".x)" : ")"), {}, {}};
    }
    std::string list;
    for (std::int64_t i = 0; i < count; ++i) {
        // The x of a vector is the last dimension.
        const std::int64_t at = kind == TypeKind::vector ? count - 1 - i : i;
        list += (i == 0 ? "" : ", ") + to_string(argument.element.scalar) + "(" + index_text(use, at) + ")";
    }
    if (kind == TypeKind::vector) list = type + "(" + list + ")";
    if (kind != TypeKind::vector && kind != TypeKind::scalar) list = "{ " + list + " }";
    return MadeValue{list, {}, {}};
}

std::string cpp_passed_type(const Generator& generator, const PlannedArgument& item, const CppStructs&) {
    switch (generator.generator) {
        case GeneratorKind::grid: return "kf::Grid<" + std::to_string(item.host.rank) + ">";
        case GeneratorKind::range: return "kf::Range";
        case GeneratorKind::wang_hash: return "kf::WangHash";
        case GeneratorKind::rand_float: return "kf::RandFloat";
        default: return "kf::Made";
    }
}

PythonTypes python_types(const Generator& generator, const PlannedArgument& item, bool) {
    switch (generator.generator) {
        case GeneratorKind::grid: {
            PythonTypes types = python_grid | python_sequence;  // its shape is a grid as well
            if (item.host.rank == 1) types |= python_int;
            return types;
        }
        case GeneratorKind::range: return python_range;
        case GeneratorKind::wang_hash: return python_wang_hash;
        default: return python_rand_float;
    }
}

std::string described(const Generator& generator, const PlannedArgument& item) {
    return "in, " + detail::generator_text(generator.generator, item.host.rank);
}

}  // namespace kf::gen::kinds
