// The kind of values that kernels make for each call: its rules in manifests, and its records.
#include "core/kinds/generator.h"

#include "core/consistency.h"
#include "core/generator_rules.h"
#include "core/manifest.h"
#include "core/record_list.h"

namespace kf::manifest::kinds {

using artifact::require;

void check_consistency(const Generator& kind, const Call& call, const Argument& argument,
                       const std::string& where) {
    const bool makes_it = makes(kind.generator, argument.element.scalar);
    const bool feeds = is_spread(kind.generator);
    require(argument.inner_rank == 0, where, "a tensor parameter without a rank");
    require(argument.role == Role::in && argument.gradient == Gradient::never, where,
            "a generator that isn't only read");
    require(argument.trailing == argument.element.extents, where, "a generator of other elements");
    require(argument.call_rank == (feeds ? argument.rank : 0), where, "a generator of another call rank");
    require(!is_pushed(argument), where, "a pushed gradient of no tensor");
    require(argument.pitch == 0, where, "a pitch of what is no tensor");
    switch (kind.generator) {
        case GeneratorKind::none: artifact::fail(where, "a generator of no kind");
        case GeneratorKind::call_id:
            require(makes_it && argument.rank == call.rank, where, "indices of another call");
            return;
        case GeneratorKind::thread_id:
        case GeneratorKind::range:
        case GeneratorKind::grid: require(makes_it, where, "indices that aren't integers"); return;
        case GeneratorKind::wang_hash: require(makes_it, where, "hashes not of 32 bits"); return;
        case GeneratorKind::rand_float: require(makes_it, where, "random numbers not float");
    }
}

std::string spec_text(const Generator& kind, const Argument& argument, const std::string&) {
    return detail::generator_text(kind.generator, argument.rank);
}

bool counts_along_dimensions(const Generator& kind) {
    return kind.generator == GeneratorKind::call_id || is_spread(kind.generator);
}

void list_records(const Generator& kind, const Argument& argument, std::int64_t index, RecordList& list) {
    if (is_spread(kind.generator)) {
        if (argument.call_rank > 0) list.add({RecordKind::grid, index, argument.map});
    } else if (kind.generator == GeneratorKind::wang_hash) {
        list.add({RecordKind::hash, index});
    } else if (kind.generator == GeneratorKind::rand_float) {
        list.add({RecordKind::random, index});
    }
}

}  // namespace kf::manifest::kinds
