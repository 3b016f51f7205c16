// Picks the overload that fits a call's arguments.
#include "core/resolve.h"

#include <kf/error.h>

#include <limits>
#include <optional>
#include <vector>

#include "core/describe.h"
#include "core/generator_rules.h"
#include "core/kinds/binding.h"
#include "core/module_state.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::Role;

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
    if (!passes_elements(argument) || given.shape.size() != dims || given.scalar == wanted) return {};
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
        if (!conversion_cost(argument, args[i])) {
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
    if (const std::optional<int> fits = conversion_cost(argument, given)) {
        return *fits;
    }
    ErrorCode code = ErrorCode::type_mismatch;
    if (given.kind == ArgShape::Kind::absent) {
        code = ErrorCode::missing_argument;
    } else if (passes_elements(argument) && given.kind != ArgShape::Kind::generator &&
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
            const std::optional<int> one = conversion_cost(call.arguments[i], args[i]);
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
