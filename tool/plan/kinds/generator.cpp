// Generators: which parameters they feed.
#include "plan/kinds/generator.h"

#include <algorithm>
#include <array>

#include "plan/accumulate.h"
#include "plan/kinds/value.h"
#include "plan/types.h"

namespace kf::gen::kinds {

namespace {

bool feeds(GeneratorKind generator, const manifest::Element& element) {
    return makes(generator, element.scalar) && (is_random(generator) || element.extents.size() <= 1);
}

std::string wanted(GeneratorKind generator) {
    switch (generator) {
        case GeneratorKind::wang_hash: return "uint or int, or a vector, matrix or array of those";
        case GeneratorKind::rand_float: return "float, or a vector, matrix or array of it";
        default: return "int, uint, int64_t or uint64_t, or a vector or array of those";
    }
}

std::string count_text(std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " index" : " indices");
}

}  // namespace

Outcome<manifest::Argument> feed_generator(const KindSpec& kind, const KindTarget& target) {
    const GeneratorKind generator = kind.generator;
    const bool result = target.role == manifest::Role::result;
    const std::string subject = target_name(target);
    if (target.role != manifest::Role::in) {
        return feed_error(kind, "generator-output",
                          subject + ": '" + kind.spelling + "' makes values that go into a call; " +
                              (result ? "a result" : "an out or inout parameter") + " comes out of it",
                          {"kinds for it: value, tensor[rank]"});
    }
    const std::optional<manifest::Element> element = element_of(target.type);
    if (!element || !feeds(generator, *element) || innermost_of(target.type).is_enum) {
        return feed_error(
            kind, "argument-type",
            subject + ": '" + kind.spelling + "' can't feed a parameter of type '" + target.type.name + "'",
            {"it makes values for a parameter of type " + wanted(generator)});
    }
    const std::int64_t indices = element->extents.empty() ? 1 : element->extents.front();
    manifest::Argument argument;
    argument.name = target.argument;
    argument.kind = Generator{generator};
    argument.element = *element;
    argument.trailing = element->extents;
    argument.rank = is_random(generator) ? 0 : indices;
    const std::int64_t dimensions = generator == GeneratorKind::grid ? kind.rank : 1;
    if (is_spread(generator)) {
        argument.call_rank = dimensions;
        if (indices != dimensions) {
            return feed_error(kind, "argument-rank",
                              subject + ": '" + kind.spelling + "' makes " + count_text(dimensions) +
                                  ", but a parameter of type '" + target.type.name + "' takes " +
                                  count_text(indices),
                              {"a scalar takes one, a vector or array as many as it is long"});
        }
    }
    if (kind.map) {
        if (static_cast<std::int64_t>(kind.map->size()) != dimensions) {
            return feed_error(kind, "argument-map",
                              subject + ": \"map\" places " + std::to_string(dimensions) +
                                  " dimension(s) in the call, but it lists " +
                                  std::to_string(kind.map->size()));
        }
        argument.map.assign(kind.map->begin(), kind.map->end());
    }
    return argument;
}

std::int64_t least_call_rank(const Generator& generator, const manifest::Argument& argument) {
    return generator.generator == GeneratorKind::call_id ? argument.rank : argument.call_rank;
}

std::optional<Diagnostic> check_in_call(const Generator& generator, const PlannedArgument& argument,
                                        std::int64_t rank) {
    if (generator.generator != GeneratorKind::call_id || argument.host.rank == rank) return std::nullopt;
    return Diagnostic{Severity::error,
                      "argument-rank",
                      argument.location,
                      "argument '" + argument.host.name + "': the call's rank is " + std::to_string(rank) +
                          ", but a parameter of type '" + argument.type.name + "' takes a call_id of " +
                          count_text(argument.host.rank),
                      {"a thread_id counts calls of any rank with one index"}};
}

std::string gradient_refusal(const Generator&, const AccumulateWay& way) {
    return is_for_gradients(way) ? "it is for tensors; give it a kind such as tensor[0]" : "";
}

void become_tangent(const Generator&, PlannedArgument& argument) {
    argument.host.rank = argument.host.call_rank = 0;
    argument.host.map.clear();
    become_tangent(Value{}, argument);
}

}  // namespace kf::gen::kinds

namespace kf::gen {

namespace {

const PlannedArgument& first_leaf(const PlannedCall& call, std::size_t parameter) {
    return call.arguments[static_cast<std::size_t>(call.parameters[parameter].host.leaf)];
}

/// A struct is, whatever its fields are.
bool is_given(const PlannedCall& call, std::size_t parameter) {
    return call.parameters[parameter].host.form != manifest::Form::leaf ||
           has_host_value(first_leaf(call, parameter).host);
}

}  // namespace

std::optional<Diagnostic> check_host_arguments(const PlannedFunction& function) {
    if (function.calls.empty()) return std::nullopt;
    const PlannedCall& first = function.calls.front();
    for (const PlannedCall& call : function.calls) {
        for (std::size_t i = 0; i < std::min(call.parameters.size(), first.parameters.size()); ++i) {
            const PlannedArgument& one = first_leaf(call, i);
            const PlannedArgument& other = first_leaf(first, i);
            const bool given = is_given(call, i);
            if (given == is_given(first, i)) continue;
            const PlannedArgument& odd = given ? other : one;
            return Diagnostic{Severity::error,
                              "generator-alternatives",
                              odd.location,
                              "argument '" + odd.host.name + "': the host gives nothing for a " +
                                  spec_text(odd.host, odd.element_name) +
                                  ", so it can't stand beside other kinds under one name",
                              {"give one of the calls a \"name\" of its own"}};
        }
    }
    return std::nullopt;
}

}  // namespace kf::gen
