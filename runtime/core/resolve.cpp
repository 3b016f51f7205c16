// Picks the overload that fits a call's arguments.
#include "core/resolve.h"

#include <kf/error.h>

#include <limits>
#include <optional>
#include <vector>

#include "core/convert.h"
#include "core/describe.h"
#include "core/generator.h"
#include "core/module_state.h"
#include "core/roles.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::Role;

// Lower fits better.
constexpr int wrong_extent = 1000;  // the binder will refuse it: only when nothing else fits
constexpr int last_resort = 100;
constexpr int repeated = 50;  // one number for all components of a vector

/// What it costs to take a number as another scalar type; nothing when it can't be.
std::optional<int> weak_cost(ScalarType from, ScalarType to) {
    const bool to_floating = is_floating(to);
    if (from == ScalarType::boolean) {
        return to == ScalarType::boolean ? std::optional(0) : std::nullopt;
    }
    if (to == ScalarType::boolean || (is_floating(from) && !to_floating)) {
        return std::nullopt;
    }
    if (to_floating) {
        const int cost = to == ScalarType::float32 ? 0 : to == ScalarType::float64 ? 1 : 2;
        return is_floating(from) ? cost : cost + 20;
    }
    switch (to) {
        case ScalarType::int32: return 0;
        case ScalarType::int64: return 1;
        case ScalarType::uint32: return 2;
        case ScalarType::uint64: return 3;
        case ScalarType::int16: return 4;
        case ScalarType::uint16: return 5;
        default: return 6;
    }
}

/// Whether the argument is a vector by value, all components of which one number can be.
bool takes_number(const Argument& argument) {
    return passes_value(argument) && argument.element.extents.size() == 1 && argument.call_rank == 0 &&
           argument.role != Role::out && argument.role != Role::result && ends_in_vector(argument);
}

/// Whether x, y, z and w may be the last extent: of a vector, or of one that a tensor's numbers make.
bool takes_components(const Argument& argument) {
    return argument.element.extents.empty() ? !argument.trailing.empty() : ends_in_vector(argument);
}

/// The last extents of `shape` are the element's.
bool ends_with(const Dims& shape, const std::vector<std::int64_t>& extents) {
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (shape[shape.size() - extents.size() + i] != extents[i]) {
            return false;
        }
    }
    return true;
}

std::optional<int> cost(const Argument& argument, const ArgShape& given) {
    if (is_generator(argument) || given.kind == ArgShape::Kind::generator) {
        if (given.kind == ArgShape::Kind::absent) {
            return has_host_value(argument) ? std::nullopt : std::optional(0);
        }
        const bool fits = generator_of(argument) == given.generator &&
                          given.kind == ArgShape::Kind::generator &&
                          given.shape.size() == static_cast<std::size_t>(argument.call_rank);
        return fits ? std::optional(0) : std::nullopt;
    }
    if (given.kind == ArgShape::Kind::absent) {
        const bool optional = is_only_written(argument.role);
        return optional || argument.tangent_of >= 0 ? std::optional(0) : std::nullopt;
    }
    const ScalarType wanted = argument.element.scalar;
    const bool tensor = passes_tensor(argument);
    if (given.kind == ArgShape::Kind::tensor && !tensor) {
        return std::nullopt;
    }
    const std::size_t dims = static_cast<std::size_t>(argument.rank) + argument.element.extents.size();
    if (given.kind == ArgShape::Kind::weak && given.shape.empty() && takes_number(argument)) {
        const std::optional<int> conversion = weak_cost(given.scalar, wanted);
        return conversion ? std::optional(*conversion + repeated) : std::nullopt;
    }
    if (given.shape.size() != dims || (given.components && !takes_components(argument))) {
        return std::nullopt;
    }
    int total = ends_with(given.shape, argument.element.extents) ? 0 : wrong_extent;
    if (given.kind == ArgShape::Kind::weak) {
        const std::optional<int> conversion = weak_cost(given.scalar, wanted);
        if (!conversion) {
            return std::nullopt;
        }
        total += *conversion;
    } else if (given.scalar != wanted) {
        return std::nullopt;
    }
    // What lies on the host already is sooner a value than a tensor of rank 0.
    if (tensor && given.kind != ArgShape::Kind::tensor && dims == argument.element.extents.size()) {
        total += last_resort;
    }
    return total;
}

std::string found_text(const ArgShape& given) {
    switch (given.kind) {
        case ArgShape::Kind::absent: return "nothing";
        case ArgShape::Kind::weak: {
            const std::string number = given.scalar == ScalarType::boolean ? "bool"
                                       : is_floating(given.scalar)         ? "floating number"
                                                                           : "whole number";
            if (given.shape.empty()) {
                return "a " + number;
            }
            if (given.components && given.shape.size() == 1) {
                return "x, y, z, w of " + number + "s";
            }
            return "a list of shape " + to_string(given.shape) + " of " + number + "s";
        }
        case ArgShape::Kind::array:
            return with_article(to_string(given.scalar)) + " array of shape " + to_string(given.shape);
        case ArgShape::Kind::tensor: return describe_tensor(given.scalar, given.shape);
        case ArgShape::Kind::generator:
            return with_article(
                generator_text(given.generator, static_cast<std::int64_t>(given.shape.size())));
    }
    return {};
}

/// What an argument should be. Ranks of vectors' tensors don't count the vectors: then the shape says more.
std::string expected_text(const Argument& argument, const ArgShape& given) {
    std::string text = describe(argument);
    const auto rank = static_cast<std::size_t>(argument.rank);
    const std::size_t dims = rank + argument.element.extents.size();
    if (!passes_tensor(argument) || argument.element.extents.empty() ||
        given.kind == ArgShape::Kind::absent || given.shape.size() == dims)
        return text;
    for (std::size_t i = 0; i < dims; ++i) {
        text += (i == 0 ? " (shape [" : ", ") +
                (i < rank ? "d" + std::to_string(i) : std::to_string(argument.element.extents[i - rank]));
    }
    return text + "])";
}

/// What converts it, where nothing but the type is wrong.
std::string conversion_hint(const Argument& argument, const ArgShape& given) {
    const auto dims = static_cast<std::size_t>(argument.rank) + argument.element.extents.size();
    const ScalarType wanted = argument.element.scalar;
    if (is_generator(argument) || given.shape.size() != dims || given.scalar == wanted) return {};
    if (given.kind == ArgShape::Kind::array) return "; astype() converts it";
    if (given.kind != ArgShape::Kind::weak || given.scalar != ScalarType::boolean || dims != 0) return {};
    return is_floating(wanted) ? "; float() converts it" : "; int() converts it";
}

std::string mismatch(const Argument& argument, const ArgShape& given) {
    return "argument '" + argument.name + "': expected " + expected_text(argument, given) + ", found " +
           found_text(given) + conversion_hint(argument, given);
}

/// Which argument a candidate doesn't take, on a line of its own.
std::string refusal(const manifest::Call& call, std::span<const ArgShape> args) {
    for (std::size_t i = 0; call.arguments.size() == args.size() && i < args.size(); ++i) {
        const Argument& argument = call.arguments[i];
        if (!cost(argument, args[i])) {
            return "\n    " + mismatch(argument, args[i]);
        }
    }
    return {};
}

/// What is given, outputs that aren't left out.
std::string found_text(const manifest::Function& function, std::span<const ArgShape> args) {
    std::string text;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const bool known = i < function.calls.front().arguments.size();
        const bool input = known && function.calls.front().arguments[i].role == Role::in;
        if (args[i].kind == ArgShape::Kind::absent && !input) {
            continue;
        }
        text += (text.empty() ? "" : ", ") + found_text(args[i]);
    }
    return text;
}

/// A number doesn't say whether a float2 or a float3 is meant.
void check_lengths(const manifest::Function& function, std::size_t best,
                   const std::vector<std::size_t>& equal, std::span<const ArgShape> args) {
    for (const std::size_t other : equal) {
        for (std::size_t i = 0; i < args.size(); ++i) {
            const Argument& one = function.calls[best].arguments[i];
            const Argument& two = function.calls[other].arguments[i];
            if (args[i].kind != ArgShape::Kind::weak || !args[i].shape.empty() ||
                one.element == two.element) {
                continue;
            }
            throw ArgumentError(ErrorCode::no_overload,
                                function.name + ": argument '" + one.name + "': " + found_text(args[i]) +
                                    " could be " + with_article(describe(one)) + " or " +
                                    with_article(describe(two)) + ": give every component");
        }
    }
}

[[noreturn]] void fail_single(const manifest::Function& function, std::span<const ArgShape> args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
        (void)argument_cost(function, function.calls.front().arguments[i], args[i]);
    }
    throw ArgumentError(ErrorCode::no_overload, function.name + ": no overload takes these arguments");
}

}  // namespace

int argument_cost(const manifest::Function& function, const Argument& argument, const ArgShape& given) {
    if (const std::optional<int> fits = cost(argument, given)) {
        return *fits;
    }
    ErrorCode code = ErrorCode::type_mismatch;
    if (given.kind == ArgShape::Kind::absent) {
        code = ErrorCode::missing_argument;
    } else if (!is_generator(argument) && given.kind != ArgShape::Kind::generator &&
               given.shape.size() !=
                   static_cast<std::size_t>(argument.rank) + argument.element.extents.size()) {
        code = ErrorCode::rank_mismatch;
    }
    throw ArgumentError(code, function.name + ": " + mismatch(argument, given));
}

std::size_t resolve(const manifest::Function& function, std::span<const ArgShape> args) {
    std::optional<std::size_t> best;
    std::vector<std::size_t> equal;  // to the best
    int best_cost = std::numeric_limits<int>::max();
    for (std::size_t c = 0; c < function.calls.size(); ++c) {
        const manifest::Call& call = function.calls[c];
        if (call.arguments.size() != args.size()) {
            continue;
        }
        int total = 0;
        bool fits = true;
        for (std::size_t i = 0; fits && i < args.size(); ++i) {
            const std::optional<int> one = cost(call.arguments[i], args[i]);
            fits = one.has_value();
            total += one.value_or(0);
        }
        if (fits && total < best_cost) {
            best = c;
            best_cost = total;
            equal.clear();
        } else if (fits && total == best_cost) {
            equal.push_back(c);
        }
    }
    if (best) {
        check_lengths(function, *best, equal, args);
        return *best;
    }
    if (function.calls.size() == 1 && function.calls.front().arguments.size() == args.size()) {
        fail_single(function, args);
    }
    std::string message =
        function.name + ": no overload takes (" + found_text(function, args) + "); candidates:";
    for (const manifest::Call& call : function.calls) {
        message += "\n  " + describe(function, call) + refusal(call, args);
    }
    throw ArgumentError(ErrorCode::no_overload, message);
}

std::size_t resolve(const FunctionRef& function, std::span<const ArgShape> args) {
    return resolve(function.module->manifest().functions.at(function.function), args);
}

}  // namespace kf::detail
