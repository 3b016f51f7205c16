// Generators: which parameters they feed.
#include "plan/generators.h"

#include <algorithm>
#include <array>

#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Generator;

constexpr std::array<std::pair<Kind, Generator>, 6> kinds{{{Kind::call_id, Generator::call_id},
                                                           {Kind::thread_id, Generator::thread_id},
                                                           {Kind::grid, Generator::grid},
                                                           {Kind::range, Generator::range},
                                                           {Kind::wang_hash, Generator::wang_hash},
                                                           {Kind::rand_float, Generator::rand_float}}};

Generator generator_of(Kind kind) {
    for (const auto& [known, generator] : kinds) {
        if (known == kind) return generator;
    }
    return Generator::none;
}

bool is_index(ScalarType scalar) {
    return scalar == ScalarType::int32 || scalar == ScalarType::uint32 || scalar == ScalarType::int64 ||
           scalar == ScalarType::uint64;
}

bool is_random(Generator generator) {
    return generator == Generator::wang_hash || generator == Generator::rand_float;
}

bool feeds(Generator generator, const manifest::Element& element) {
    switch (generator) {
        case Generator::wang_hash:
            return element.scalar == ScalarType::uint32 || element.scalar == ScalarType::int32;
        case Generator::rand_float: return element.scalar == ScalarType::float32;
        default: return is_index(element.scalar) && element.extents.size() <= 1;
    }
}

std::string wanted(Generator generator) {
    switch (generator) {
        case Generator::wang_hash: return "uint or int, or a vector, matrix or array of those";
        case Generator::rand_float: return "float, or a vector, matrix or array of it";
        default: return "int, uint, int64_t or uint64_t, or a vector or array of those";
    }
}

std::string count_text(std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " index" : " indices");
}

Diagnostic kind_error(const KindSpec& kind, std::string id, std::string message,
                      std::vector<std::string> notes = {}) {
    return {Severity::error, std::move(id), kind.location, std::move(message), std::move(notes)};
}

}  // namespace

bool is_generator(Kind kind) { return generator_of(kind) != Generator::none; }

bool has_host_value(const manifest::Argument& argument) {
    return argument.generator != Generator::call_id && argument.generator != Generator::thread_id;
}

std::string generator_text(const manifest::Argument& argument) {
    constexpr std::array names{"none", "call_id", "thread_id", "grid", "range", "wang_hash", "rand_float"};
    const std::string name = names.at(static_cast<std::size_t>(argument.generator));
    return argument.generator == Generator::grid ? name + "[" + std::to_string(argument.rank) + "]" : name;
}

Outcome<manifest::Argument> feed_generator(const KindSpec& kind, const Feed& target) {
    const Generator generator = generator_of(kind.kind);
    const bool result = target.role == manifest::Role::result;
    const std::string subject = result ? "the result" : "argument '" + target.argument + "'";
    if (target.role != manifest::Role::in) {
        return kind_error(kind, "generator-output",
                          subject + ": '" + kind.spelling + "' makes values that go into a call; " +
                              (result ? "a result" : "an out or inout parameter") + " comes out of it",
                          {"kinds for it: value, tensor[rank]"});
    }
    const std::optional<manifest::Element> element = element_of(target.type);
    if (!element || !feeds(generator, *element) || innermost_of(target.type).is_enum) {
        return kind_error(
            kind, "argument-type",
            subject + ": '" + kind.spelling + "' can't feed a parameter of type '" + target.type.name + "'",
            {"it makes values for a parameter of type " + wanted(generator)});
    }
    const std::int64_t indices = element->extents.empty() ? 1 : element->extents.front();
    manifest::Argument argument;
    argument.name = target.argument;
    argument.kind = manifest::ArgumentKind::generator;
    argument.generator = generator;
    argument.element = *element;
    argument.trailing = element->extents;
    argument.rank = is_random(generator) ? 0 : indices;
    const std::int64_t dimensions = generator == Generator::grid ? kind.rank : 1;
    if (generator == Generator::grid || generator == Generator::range) {
        argument.call_rank = dimensions;
        if (indices != dimensions) {
            return kind_error(kind, "argument-rank",
                              subject + ": '" + kind.spelling + "' makes " + count_text(dimensions) +
                                  ", but a parameter of type '" + target.type.name + "' takes " +
                                  count_text(indices),
                              {"a scalar takes one, a vector or array as many as it is long"});
        }
    }
    if (kind.map) {
        if (static_cast<std::int64_t>(kind.map->size()) != dimensions) {
            return kind_error(kind, "argument-map",
                              subject + ": \"map\" places " + std::to_string(dimensions) +
                                  " dimension(s) in the call, but it lists " +
                                  std::to_string(kind.map->size()));
        }
        argument.map.assign(kind.map->begin(), kind.map->end());
    }
    return argument;
}

Diagnostics check_call_ids(const PlannedCall& call) {
    Diagnostics errors;
    for (const PlannedArgument& argument : call.arguments) {
        if (argument.host.generator != Generator::call_id || argument.host.rank == call.rank) continue;
        errors.push_back({Severity::error,
                          "argument-rank",
                          argument.location,
                          "argument '" + argument.host.name + "': the call's rank is " +
                              std::to_string(call.rank) + ", but a parameter of type '" + argument.type.name +
                              "' takes a call_id of " + count_text(argument.host.rank),
                          {"a thread_id counts calls of any rank with one index"}});
    }
    return errors;
}

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
                                  generator_text(odd.host) +
                                  ", so it can't stand beside other kinds under one name",
                              {"give one of the calls a \"name\" of its own"}};
        }
    }
    return std::nullopt;
}

}  // namespace kf::gen
