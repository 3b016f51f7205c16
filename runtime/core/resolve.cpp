// Picks the call that takes what is given at the least cost.
#include "core/resolve.h"

#include <kf/error.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "core/conversion_costs.h"
#include "core/describe.h"
#include "core/items.h"
#include "core/module_state.h"
#include "core/resolve_text.h"
#include "core/roles.h"

namespace kf::detail {
namespace {

using manifest::Form;
using manifest::Function;
using manifest::ParameterTree;

/// What is given to a caller that knows no structs.
class GivenShape final : public Given {
public:
    explicit GivenShape(const ArgShape& shape) : shape_(&shape) {}

    const ArgShape* as_elements(const manifest::Call&, const manifest::Argument&, bool, Refusal*) override {
        return shape_;
    }
    [[nodiscard]] std::string type_text() const override { return found_text(*shape_); }

private:
    const ArgShape* shape_;
};

/// The parameter for which two candidates take different structs, of what is given; null for none.
const ParameterTree* other_struct(const Candidate& one, const Candidate& other) {
    const std::vector<ParameterTree>& parameters = one.call->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const ParameterTree& second = other.call->parameters[i];
        if (one.given[i] != nullptr && parameters[i].form != Form::leaf && second.form != Form::leaf &&
            parameters[i].type != second.type)
            return &parameters[i];
    }
    return nullptr;
}

std::string struct_text(const ParameterTree& structure) {
    return structure.form == Form::tensor ? structure.type + " structs" : with_article(structure.type);
}

class Resolver {
public:
    explicit Resolver(const Resolution& asked) : asked_(asked), list_(asked.candidates.front().list) {
        // Candidates whose parameters the arguments can't be for don't count where those of one other list
        // do.
        for (const Candidate& candidate : asked.candidates) {
            if (candidate.refused != nullptr) continue;
            one_list_ = none_taken_ || (one_list_ && candidate.list == list_);
            list_ = candidate.list;
            none_taken_ = false;
        }
        if (none_taken_)
            for (const Candidate& one : asked.candidates) one_list_ = one_list_ && one.list == list_;
    }

    std::size_t best() {
        if (none_taken_) fail_taking();
        const auto how_many =
            std::ranges::count_if(asked_.candidates, [&](const Candidate& one) { return counts(one); });
        const Candidate* best = nullptr;
        Rank least;
        for (const Candidate& candidate : asked_.candidates) {
            if (!counts(candidate) || candidate.refused != nullptr) continue;
            const std::optional<int> cost = fit_cost(question(candidate, how_many > 1));
            if (!cost) continue;
            const Rank rank{*cost >= unlikely_cost, candidate.left_out, *cost};
            if (best == nullptr || rank < least) {
                best = &candidate;
                least = rank;
                equal_.clear();
            } else if (rank == least) {
                equal_.push_back(&candidate);
            }
        }
        if (best == nullptr && how_many == 1) fail_single();
        if (best == nullptr) fail_all();
        check_equal(*best, std::get<0>(least));
        return static_cast<std::size_t>(best - asked_.candidates.data());
    }

private:
    /// Unlikely ones come last, then those that leave more out, then those that cost more.
    using Rank = std::tuple<bool, std::size_t, int>;

    /// Whether it is one of those that may be meant.
    [[nodiscard]] bool counts(const Candidate& candidate) const {
        return !one_list_ || candidate.list == list_;
    }
    /// All of these.
    [[nodiscard]] std::vector<const Candidate*> counting() const {
        std::vector<const Candidate*> all;
        for (const Candidate& one : asked_.candidates)
            if (counts(one)) all.push_back(&one);
        return all;
    }
    [[nodiscard]] const Candidate& first_counting() const { return *counting().front(); }
    [[nodiscard]] FitQuestion question(const Candidate& candidate, bool deep) const {
        return {*candidate.call, candidate.given, asked_.forward, asked_.recorded, deep, asked_.globals};
    }
    [[nodiscard]] std::string signature(const Candidate& candidate) const {
        return "\n  " + describe(asked_.function, *candidate.call);
    }
    [[noreturn]] void fail(ErrorCode code, const std::string& text) const {
        throw ArgumentError(code, asked_.function.name + ": " + text);
    }

    /// Refuses what could as well be another candidate's: they are not chosen by their order.
    void check_equal(const Candidate& best, bool unlikely) const {
        const auto takes_other_struct = [&](const Candidate* one) {
            return one->list == best.list && other_struct(best, *one) != nullptr;
        };
        if (unlikely && std::ranges::any_of(equal_, takes_other_struct)) fail_all();
        if (std::ranges::any_of(equal_, [&](const Candidate* one) { return one->list != best.list; })) {
            std::string text =
                "several overloads take these arguments: name them; candidates:" + signature(best);
            for (const Candidate* one : equal_) text += signature(*one);
            fail(ErrorCode::no_overload, text);
        }
        for (const Candidate* one : equal_) {
            check_structs(best, *one);
            check_lengths(best, *one);
        }
    }

    void check_structs(const Candidate& best, const Candidate& other) const {
        const ParameterTree* differs = other_struct(best, other);
        if (differs == nullptr) return;
        const auto i = static_cast<std::size_t>(differs - best.call->parameters.data());
        fail(ErrorCode::no_overload, "argument '" + differs->name + "': " + shown(*best.given[i]) +
                                         " could be " + struct_text(*differs) + " or " +
                                         struct_text(other.call->parameters[i]) +
                                         ": give objects of the class that is meant");
    }

    /// A number doesn't say whether a float2 or a float3 is meant.
    void check_lengths(const Candidate& best, const Candidate& other) const {
        for (std::size_t i = 0; i < best.given.size(); ++i) {
            const ParameterTree& one = best.call->parameters[i];
            const ParameterTree& two = other.call->parameters[i];
            if (best.given[i] == nullptr || one.form != Form::leaf || two.form != Form::leaf) continue;
            const manifest::Argument& first = best.call->arguments[static_cast<std::size_t>(one.leaf)];
            const manifest::Argument& second = other.call->arguments[static_cast<std::size_t>(two.leaf)];
            const ArgShape* given = best.given[i]->as_elements(*best.call, first, false, nullptr);
            if (given == nullptr || given->kind != ArgShape::Kind::weak || !given->shape.empty() ||
                first.element.extents == second.element.extents)
                continue;
            fail(ErrorCode::no_overload, "argument '" + one.name + "': " + found_text(*given) + " could be " +
                                             with_article(describe(first)) + " or " +
                                             with_article(describe(second)) + ": give every component" +
                                             numbers_given());
        }
    }

    /// No list of parameters takes the arguments by number and name.
    [[noreturn]] void fail_taking() const {
        const Refusal& refusal = *first_counting().refused;
        if (one_list_) fail(refusal.code, refusal.text);
        fail_all();
    }

    [[noreturn]] void fail_single() const {
        const Misfit misfit = explain_misfit(question(first_counting(), false));
        fail(misfit.refusal.code, misfit.refusal.text + numbers_given());
    }

    [[noreturn]] void fail_all() const {
        fail_unreadable();
        std::vector<Misfit> reasons;
        const std::vector<const Candidate*> all = counting();
        for (const Candidate* candidate : all) {
            reasons.push_back(candidate->refused != nullptr ? Misfit{*candidate->refused, 0, farthest}
                                                            : explain_misfit(question(*candidate, true)));
        }
        fail_nearest(all, reasons);
        std::string text = "no overload takes " + (one_list_ ? "(" + all_given() + ")" : "these arguments") +
                           "; candidates:";
        const std::vector<std::size_t> order = nearest_first(reasons);
        const std::size_t count = shown_count(order, reasons);
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t i = order[k];
            text += signature(*all[i]);
            // What the whole list refuses is said once.
            const bool again =
                k + 1 < count && all[i]->refused != nullptr && all[i]->refused == all[order[k + 1]]->refused;
            if (!again && !reasons[i].refusal.text.empty()) text += "\n    " + reasons[i].refusal.text;
        }
        if (count < order.size()) {
            text += "\n  and " + std::to_string(order.size() - count) + " more, farther off: '" +
                    asked_.function.name + ".signatures' lists them";
        }
        fail(ErrorCode::no_overload, text + numbers_given());
    }

    /// How far off a candidate is whose parameters the arguments aren't for.
    static constexpr std::size_t farthest = 1000;

    /// Returns the candidates' numbers by how far off the arguments are; those of one distance in their
    /// order.
    static std::vector<std::size_t> nearest_first(const std::vector<Misfit>& reasons) {
        std::vector<std::size_t> order(reasons.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return reasons[i].distance; });
        return order;
    }

    /// Returns how many of them are shown: all where they are few, else those that are as near as the first.
    static std::size_t shown_count(const std::vector<std::size_t>& order,
                                   const std::vector<Misfit>& reasons) {
        constexpr std::size_t few = 3;
        if (order.size() <= few) return order.size();
        const auto is_farther = [&](std::size_t i) {
            return reasons[i].distance > reasons[order.front()].distance;
        };
        return static_cast<std::size_t>(std::ranges::find_if(order, is_farther) - order.begin());
    }

    /// What can be no argument at all is no matter of overloads.
    void fail_unreadable() const {
        if (!one_list_) return;
        const Candidate& first = first_counting();
        for (std::size_t i = 0; i < first.given.size(); ++i) {
            const auto is_refused = [&](const Candidate* one) {
                return one->given[i] != nullptr && one->call->parameters[i].form == Form::leaf &&
                       leaf_shape(*one, i) == nullptr;
            };
            if (!std::ranges::all_of(counting(), is_refused)) continue;
            Refusal why;
            leaf_shape(first, i, &why);
            fail(why.code, "argument '" + first.call->parameters[i].name + "': " + why.text);
        }
    }

    /// Where only what structs hold is wrong, the struct that is meant says what: the nearest one's.
    void fail_nearest(const std::vector<const Candidate*>& all, const std::vector<Misfit>& reasons) const {
        std::optional<std::size_t> nearest;
        for (std::size_t i = 0; i < reasons.size(); ++i) {
            if (reasons[i].contents > 0 && (!nearest || reasons[i].contents < reasons[*nearest].contents))
                nearest = i;
        }
        if (!nearest || !one_list_) return;
        for (std::size_t i = 0; i < reasons.size(); ++i) {
            if (reasons[i].contents == reasons[*nearest].contents &&
                other_struct(*all[*nearest], *all[i]) != nullptr)
                return;
        }
        fail(reasons[*nearest].refusal.code, reasons[*nearest].refusal.text);
    }

    /// What is given, outputs that aren't left out.
    [[nodiscard]] std::string all_given() const {
        const Candidate& first = first_counting();
        std::string text;
        for (std::size_t i = 0; i < first.given.size(); ++i) {
            const bool input = role_of(*first.call, first.call->parameters[i]) == manifest::Role::in;
            if (first.given[i] == nullptr && !input) continue;
            if (!text.empty()) text += ", ";
            if (first.given[i] == nullptr) {
                text += "nothing";
                continue;
            }
            const ArgShape* shape = leaf_shape(first, i);
            text += shape != nullptr ? found_text(*shape) : first.given[i]->type_text();
        }
        return text;
    }

    /// What is given for a parameter; null where that isn't a leaf, or what is given can't be one.
    static const ArgShape* leaf_shape(const Candidate& candidate, std::size_t i, Refusal* why = nullptr) {
        const ParameterTree& parameter = candidate.call->parameters[i];
        if (candidate.given[i] == nullptr || parameter.form != Form::leaf) return nullptr;
        const auto leaf = static_cast<std::size_t>(parameter.leaf);
        return candidate.given[i]->as_elements(*candidate.call, candidate.call->arguments[leaf], false, why);
    }

    /// The numbers and lists given, since the candidates' reasons name their types only.
    [[nodiscard]] std::string numbers_given() const {
        const Candidate& first = first_counting();
        std::string text;
        for (std::size_t i = 0; one_list_ && !none_taken_ && i < first.given.size(); ++i) {
            const ArgShape* shape = leaf_shape(first, i);
            if (shape == nullptr || shape->kind != ArgShape::Kind::weak) continue;
            const std::string value = first.given[i]->text();
            if (value.empty()) continue;
            text += (text.empty() ? "\n  given: " : ", ") + first.call->parameters[i].name + " = " + value;
        }
        return text;
    }

    const Resolution& asked_;
    std::size_t list_;                     ///< that one
    bool one_list_ = true;                 ///< those that count have the same parameters
    bool none_taken_ = true;               ///< the arguments can be for no candidate's parameters
    std::vector<const Candidate*> equal_;  ///< to the best
};

}  // namespace

std::size_t resolve(const Resolution& resolution) { return Resolver(resolution).best(); }

std::size_t resolve(const Function& function, std::span<const ArgShape> args) {
    std::vector<GivenShape> shapes;
    shapes.reserve(args.size());
    std::vector<Given*> given;
    for (const ArgShape& arg : args) {
        shapes.emplace_back(arg);
        given.push_back(arg.kind == ArgShape::Kind::absent ? nullptr : &shapes.back());
    }
    std::vector<Candidate> candidates;
    std::string signatures;
    for (const manifest::Call& call : function.calls) {
        if (call.parameters.size() == args.size()) candidates.push_back({&call, given});
        signatures += "\n  " + describe(function, call);
    }
    if (candidates.empty()) {
        throw ArgumentError(ErrorCode::no_overload, function.name + ": no overload takes " +
                                                        std::to_string(args.size()) +
                                                        " arguments; candidates:" + signatures);
    }
    return static_cast<std::size_t>(candidates[resolve({function, candidates})].call - function.calls.data());
}

std::size_t resolve(const FunctionRef& function, std::span<const ArgShape> args) {
    check_function(function);
    return resolve(function.module->manifest().functions.at(function.function), args);
}

}  // namespace kf::detail
