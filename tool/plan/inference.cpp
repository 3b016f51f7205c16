// Matches kinds with generic types.
#include "plan/inference.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "plan/kinds/generator.h"
#include "slang/module.h"

namespace kf::gen {

namespace {

bool is_tensor(const TypeText& type) {
    const std::optional<TensorForm> form = form_named(type.name);
    return form && !is_view(*form) && type.arguments.size() == (*form == TensorForm::diff_texture ? 3 : 2);
}

TypeText parsed_number(std::int64_t value) { return {std::to_string(value), {}}; }

/// Returns the rank as the type spells it; for types that is_tensor() accepts.
TypeText rank_of(const TypeText& type) {
    return type.arguments.size() == 2 ? type.arguments[1] : parsed_number(2);
}

class KindReader {
public:
    KindReader(const KindSpec& kind, const std::vector<std::string>& names, const Reading& so_far,
               std::vector<Reading>& readings)
        : kind_(kind), names_(names), so_far_(so_far), readings_(readings) {}

    /// The element's own last dimensions may be the call's (rule 1); a tensor's may be the parameter's.
    void read_element(const TypeText& pattern, const TypeText& element) {
        add(pattern, element, 0);
        int cost = 1;
        for (auto inner = peeled(element); inner; inner = peeled(*inner)) add(pattern, *inner, cost++);
        cost = 1;
        for (auto inner = peeled(pattern); inner && cost <= kind_.rank; inner = peeled(*inner)) {
            add(*inner, element, cost++);
        }
    }

    /// The parameter takes the tensor whole where its rank is open; what two parameters can't both have is
    /// the call's.
    void read_tensor(const TypeText& pattern, const std::optional<TypeText>& element) {
        std::optional<TypeText> inner = pattern.arguments[0];
        const TypeText own_rank = rank_of(pattern);
        for (int trailing = 0; inner && trailing < kind_.rank; ++trailing, inner = peeled(*inner)) {
            for (int rank = kind_.rank - trailing; rank > 0; --rank) {
                Reading reading{so_far_.cost + kind_.rank - rank, so_far_.bindings};
                if (mentioned(own_rank, names_) &&
                    !unify(own_rank, parsed_number(rank), names_, reading.bindings))
                    continue;
                if (element && !unify(*inner, *element, names_, reading.bindings)) continue;
                readings_.push_back(std::move(reading));
                if (!mentioned(own_rank, names_)) break;
            }
            if (!element) break;
        }
    }

    /// A random number for each scalar of the parameter.
    void read_random(const TypeText& pattern) {
        TypeText scalar = pattern;
        for (auto inner = peeled(scalar); inner; inner = peeled(scalar)) scalar = *inner;
        if (kind_.generator == GeneratorKind::rand_float) {
            add(scalar, {"float", {}}, 0);
        } else {
            add(scalar, {"uint", {}}, 0);
            add(scalar, {"int", {}}, 1);
        }
    }

    /// `count` indices, in a vector or an array where they are several; 0: as many as the parameter has.
    void read_indices(const TypeText& pattern, std::int64_t count) {
        constexpr std::array<std::string_view, 4> scalars{"int", "uint", "int64_t", "uint64_t"};
        for (std::size_t i = 0; i < scalars.size(); ++i) {
            const TypeText scalar{std::string(scalars[i]), {}};
            const int cost = static_cast<int>(i);
            if (count <= 1) add(pattern, scalar, cost);
            for (const char* several : {"vector", "Array"}) {
                // One index is plain; only who asks for a vector of one gets that.
                if (count <= 1 && pattern.name != several) continue;
                if (count > 0) add(pattern, {several, {scalar, parsed_number(count)}}, cost);
                if (count == 0 && pattern.arguments.size() == 2 && !mentioned(pattern.arguments[1], names_))
                    add(pattern.arguments[0], scalar, cost);
            }
        }
    }

private:
    void add(const TypeText& parameter, const TypeText& type, int cost) {
        Reading reading{so_far_.cost + cost, so_far_.bindings};
        if (unify(parameter, type, names_, reading.bindings)) readings_.push_back(std::move(reading));
    }

    const KindSpec& kind_;
    const std::vector<std::string>& names_;
    const Reading& so_far_;
    std::vector<Reading>& readings_;
};

}  // namespace

bool says_type(const KindSpec& kind, const TypeText& pattern) {
    return kind.kind == Kind::generator || (kind.kind == Kind::tensor && is_tensor(pattern)) ||
           parse_type(kind.element).has_value();
}

void read_kind(const TypeText& pattern, const KindSpec& kind, const std::vector<std::string>& names,
               std::int64_t call_rank, const Reading& so_far, std::vector<Reading>& readings) {
    KindReader reader(kind, names, so_far, readings);
    const std::optional<TypeText> element = parse_type(kind.element);
    switch (kind.generator) {
        case GeneratorKind::grid: return reader.read_indices(pattern, kind.rank);
        case GeneratorKind::range: return reader.read_indices(pattern, 1);
        case GeneratorKind::call_id: return reader.read_indices(pattern, call_rank);
        case GeneratorKind::thread_id: return reader.read_indices(pattern, 0);
        case GeneratorKind::wang_hash:
        case GeneratorKind::rand_float: return reader.read_random(pattern);
        default: break;
    }
    if (kind.kind == Kind::tensor && is_tensor(pattern)) {
        reader.read_tensor(pattern, element);
    } else if (element) {
        reader.read_element(pattern, *element);
    }
}

}  // namespace kf::gen
