// Feeding a parameter from a kind: the first two binding rules.
#include "plan/kind_target.h"

#include <algorithm>

#include "core/join.h"
#include "diagnostic/suggest.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Element;

/// The host's element as the spec spells it, else as the parameter does: "float[4]" is no float4 to a reader.
std::string element_text(const KindSpec& kind, const KindTarget& target) {
    return kind.element.empty() ? kind_name(target.type) : kind.element;
}

/// Suggests an element near the word: there are too many to list all.
std::vector<std::string> element_notes(const std::string& word) {
    std::vector<std::string> notes;
    if (const std::optional<std::string> near = closest(word, element_names()))
        notes.push_back("did you mean '" + *near + "'?");
    notes.push_back("types: " + join(scalar_type_names()) +
                    "; their vectors, as in float3; matrices, as in float2x3; and arrays of these, as in "
                    "float3[5]");
    return notes;
}

/// An enum's elements are called by its name too.
std::vector<std::string> element_notes(const std::string& word, const Type& type) {
    const Type& inner = innermost_of(type);
    if (!inner.is_enum) return element_notes(word);
    return {"'" + inner.name + "' is an enum that is kept in '" + kind_name(inner) +
            "': elements are either of these"};
}

/// The facts that rule 1 needs: the host's dimensions end in those of the parameter.
struct Split {
    std::int64_t call_rank = 0;
    bool fits = false;
};

/// `fixed` are the host element's extents: they are the host's last dimensions, and known now.
Split split(std::int64_t rank, const std::vector<std::int64_t>& fixed,
            const std::vector<std::int64_t>& wanted) {
    const std::size_t known = std::min(fixed.size(), wanted.size());
    Split result;
    result.fits = std::equal(fixed.end() - static_cast<std::ptrdiff_t>(known), fixed.end(),
                             wanted.end() - static_cast<std::ptrdiff_t>(known));
    result.call_rank =
        rank + static_cast<std::int64_t>(fixed.size()) - static_cast<std::int64_t>(wanted.size());
    return result;
}

}  // namespace

std::string target_name(const KindTarget& target) {
    return target.role == manifest::Role::result ? "the result" : "argument '" + target.argument + "'";
}

Diagnostic feed_error(const KindSpec& kind, std::string id, std::string message,
                      std::vector<std::string> notes) {
    return {Severity::error, std::move(id), kind.location, std::move(message), std::move(notes)};
}

Outcome<manifest::Argument> with_map(manifest::Argument argument, const KindSpec& kind,
                                     const KindTarget& target) {
    if (!kind.map) return argument;
    if (static_cast<std::int64_t>(kind.map->size()) != argument.call_rank) {
        return feed_error(kind, "argument-map",
                          target_name(target) + ": \"map\" places " + std::to_string(argument.call_rank) +
                              " dimension(s) in the call, but it lists " + std::to_string(kind.map->size()));
    }
    argument.map.assign(kind.map->begin(), kind.map->end());
    return argument;
}

Outcome<manifest::Argument> feed_element(const KindSpec& kind, const KindTarget& target,
                                         const FeedRanks& ranks) {
    const bool is_tensor = target.type.kind == TypeKind::tensor || target.type.kind == TypeKind::buffer;
    const std::optional<Element> parameter =
        element_of(is_tensor ? target.type.element.front() : target.type);
    if (!parameter) {
        return feed_error(
            kind, "type-not-supported",
            target_name(target) + ": type '" + target.type.name +
                "' can't be passed by this version of kfgen; expected a scalar, a vector of 2 to 4, a "
                "matrix of bool, int, uint or floating scalars, or a sized array of those (at most four "
                "extents)",
            notes_of_refused(target.type));
    }
    Element element = *parameter;
    if (!kind.element.empty()) {
        const std::optional<Element> named = parse_element(kind.element);
        if (!named) {
            return feed_error(kind, "kind-element",
                              target_name(target) + ": '" + kind.element + "' in kind '" + kind.spelling +
                                  "' is no scalar, vector, matrix or sized array",
                              element_notes(kind.element, target.type));
        }
        element = *named;
    }
    if (element.scalar != parameter->scalar) {
        return feed_error(
            kind, "argument-type",
            target_name(target) + ": '" + kind.spelling + "' of " + element_text(kind, target) +
                " can't feed a parameter of type '" + target.type.name +
                "': an argument is batched or cast, never both",
            {"pass " + kind_name(target.type) + " and convert in Slang, or change the parameter's type"});
    }

    manifest::Argument argument;
    argument.name = target.argument;
    argument.role = target.role;
    argument.element = element;
    argument.trailing = parameter->extents;
    argument.rank = ranks.rank;
    argument.inner_rank = ranks.inner_rank;
    const Split parts = split(argument.rank - argument.inner_rank, element.extents, parameter->extents);
    if (!parts.fits) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": elements of '" + kind.spelling + "' are " +
                              element_text(kind, target) + ", which don't divide into '" + target.type.name +
                              "'");
    }
    if (parts.call_rank < 0) {
        const std::int64_t least = argument.rank - parts.call_rank;
        return feed_error(kind, "argument-rank",
                          target_name(target) + ": '" + kind.spelling + "' has rank " +
                              std::to_string(argument.rank) + ", but a parameter of type '" +
                              target.type.name + "' needs at least rank " + std::to_string(least));
    }
    argument.call_rank = parts.call_rank;
    return argument;
}

}  // namespace kf::gen
