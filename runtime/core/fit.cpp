// Compares what is given with what a call takes.
#include "core/fit.h"

#include <algorithm>
#include <string_view>

#include "core/conversion_costs.h"
#include "core/describe.h"
#include "core/items.h"
#include "core/join.h"
#include "core/kinds/binding.h"
#include "core/kinds/element_binding.h"
#include "core/resolve_text.h"
#include "core/roles.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::Call;
using manifest::Form;
using manifest::OwnStruct;
using manifest::ParameterTree;

const Argument& leaf_of(const Call& call, const ParameterTree& tree) {
    return call.arguments[static_cast<std::size_t>(tree.leaf)];
}

bool is_tangent(const Call& call, const ParameterTree& tree) { return leaf_of(call, tree).tangent_of >= 0; }

std::string field_names(const ParameterTree& structure) {
    return join(structure.fields, [](const ParameterTree& field) { return field.name; });
}

/// Where something lies: "net.layers[2].weights".
struct Path {
    const Path* owner = nullptr;
    std::string_view name;

    [[nodiscard]] std::string text() const {
        return owner == nullptr ? std::string(name) : manifest::field_path(owner->text(), name);
    }
};

/// What is said of a call that doesn't fit.
struct Words {
    Refusal reason;  ///< the last one, without its place
    Misfit misfit;
};

class Fitter {
    /// How far off an argument is that differs in neither type nor rank.
    static constexpr std::size_t other_distance = 2;

public:
    /// `words`: null where nobody wants any.
    Fitter(const FitQuestion& question, Words* words)
        : call_(question.call),
          question_(question),
          words_(words),
          why_(words != nullptr ? &words->reason : nullptr) {}

    /// Where somebody wants words, those of the first parameter that doesn't fit, and how far off all are.
    bool run() {
        std::optional<Misfit> first;
        for (std::size_t i = 0; i < call_.parameters.size(); ++i) {
            const ParameterTree& parameter = call_.parameters[i];
            if (!question_.globals && manifest::is_global(parameter.name)) continue;
            const std::size_t before = contents_;
            const std::size_t distance = distance_;
            if (!parameter_fits(parameter, question_.given[i], {nullptr, parameter.name})) {
                if (words_ == nullptr) return false;
                if (!first) first = words_->misfit;
                if (distance_ == distance) distance_ += other_distance;
            }
            contents_ = std::min(contents_, before + 1);
        }
        if (first) {
            words_->misfit = *first;
            words_->misfit.distance = distance_;
            return false;
        }
        if (words_ != nullptr) words_->misfit.contents = contents_;
        return contents_ == 0;
    }
    [[nodiscard]] int cost() const { return cost_ + (is_unlikely_ ? unlikely_cost : 0); }

private:
    // Each returns whether to go on.

    /// Nothing makes up for this.
    bool fail(const Path& path) {
        if (words_ != nullptr) words_->misfit = {{why_->code, place(path) + why_->text}, 0};
        return false;
    }
    template <class Text>
    bool fail(const Path& path, ErrorCode code, Text text) {
        refused(why_, code, text);
        return fail(path);
    }
    /// A struct holds what it can't. The rest may fit, which tells this call from one that is wrong all over.
    bool fail_content(const Path& path) {
        if (why_ == nullptr) return false;
        if (contents_++ == 0) words_->misfit.refusal = {why_->code, place(path) + why_->text};
        return true;
    }
    static std::string place(const Path& path) { return "argument '" + path.text() + "': "; }

    bool parameter_fits(const ParameterTree& tree, Given* given, const Path& path) {
        if (given == nullptr) return may_be_absent(tree, path);
        switch (tree.form) {
            case Form::leaf: return leaf_fits(tree, *given, path);
            case Form::value: return struct_fits(tree, *given, path);
            case Form::tensor: return structs_fit(tree, *given, path);
            case Form::fields: break;
        }
        return fields_fit(tree, *given, path);
    }

    bool may_be_absent(const ParameterTree& tree, const Path& path) {
        if (tree.form == Form::fields) {
            return std::ranges::all_of(tree.fields, [&](const ParameterTree& field) {
                return may_be_absent(field, {&path, field.name});
            });
        }
        const Argument& first = leaf_of(call_, tree);
        if (tree.form == Form::leaf && path.owner == nullptr) return argument_fits(first, ArgShape(), path);
        if (tree.form == Form::leaf ? conversion_cost(first, ArgShape()).has_value()
                                    : is_only_written(role_of(call_, tree)) || first.tangent_of >= 0)
            return true;
        return fail(path, ErrorCode::missing_argument, [] { return "not given"; });
    }

    bool leaf_fits(const ParameterTree& tree, Given& given, const Path& path) {
        const Argument& argument = leaf_of(call_, tree);
        const ArgShape* found = given.as_elements(call_, argument, false, why_);
        if (found == nullptr) return fail(path);
        // An output may be a tensor or an array: a value's is copied into it afterwards.
        if (found->kind == ArgShape::Kind::tensor && is_only_written(argument.role) && !question_.recorded) {
            ArgShape array = *found;
            array.kind = ArgShape::Kind::array;
            return argument_fits(argument, array, path);
        }
        return argument_fits(argument, *found, path);
    }

    bool argument_fits(const Argument& argument, const ArgShape& given, const Path& path) {
        const std::optional<int> cost = conversion_cost(argument, given);
        if (cost) {
            cost_ += *cost;
            return true;
        }
        if (why_ != nullptr) {
            *why_ = mismatch(argument, given);
            const auto dims = static_cast<std::size_t>(argument.rank) + argument.element.extents.size();
            distance_ += 1 + std::max(dims, given.shape.size()) - std::min(dims, given.shape.size());
        }
        return fail(path);
    }

    bool struct_fits(const ParameterTree& tree, Given& given, const Path& path) {
        const bool output = is_only_written(role_of(call_, tree));
        if (output && question_.forward) {
            return fail(path, ErrorCode::type_mismatch,
                        [&] { return with_article(tree.type) + " is returned: it can't be given"; });
        }
        const bool array = !tree.extents.empty();
        if (array ? !given.length(true, false)
                  : !given.as_struct(tree, is_tangent(call_, tree)).is_object(false)) {
            return fail(path, ErrorCode::type_mismatch, [&] {
                return (array ? "a list of " + tree.type + " structs" : with_article(tree.type)) +
                       " is needed, not " + shown(given);
            });
        }
        root_ = &given;
        return !question_.deep || output || array_fits(tree, 0, 0, given, path);
    }

    /// `level`: how many of the leaves' extents are of arrays around.
    bool array_fits(const ParameterTree& node, std::size_t dimension, std::size_t level, Given& given,
                    const Path& path) {
        if (dimension == node.extents.size()) return object_fits(node, level + dimension, given, path);
        if (!is_as_long(node, dimension, given, is_part(given), why_)) return fail_content(path);
        bool go_on = true;
        for (std::int64_t i = 0; go_on && i < node.extents[dimension]; ++i) {
            go_on = array_fits(node, dimension + 1, level, given.element(static_cast<std::size_t>(i)),
                               {&path, manifest::element_name(i)});
        }
        return go_on;
    }

    bool object_fits(const ParameterTree& node, std::size_t level, Given& given, const Path& path) {
        if (given.has_bytes_of(call_, node)) return true;
        std::vector<Given*> fields;
        if (!take_fields(call_, node, given, is_part(given), fields, why_)) return fail_content(path);
        Given& object = given.as_struct(node, is_tangent(call_, node));
        if (node.own == OwnStruct::optional && &object != &given) cost_ += optional_cost;
        check_class(node, object, path);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i] == nullptr) continue;
            const ParameterTree& field = node.fields[i];
            const Path inside{&path, field.name};
            if (field.form != Form::leaf) {
                if (!array_fits(field, 0, level, *fields[i], inside)) return false;
                continue;
            }
            const auto cost = field_cost(call_, leaf_of(call_, field), level, *fields[i], true, why_);
            if (!cost && !fail_content(inside)) return false;
            cost_ += cost.value_or(0);
        }
        return true;
    }

    [[nodiscard]] bool is_part(const Given& given) const { return &given != root_; }

    /// An object of another class may do, where it has the fields.
    void check_class(const ParameterTree& node, Given& given, const Path& path) {
        if (!question_.deep || !given.is_of_other_class(node)) return;
        is_unlikely_ = true;
        if (words_ == nullptr || !words_->misfit.refusal.text.empty()) return;
        words_->misfit.refusal = {ErrorCode::type_mismatch,
                                  place(path) + with_article(node.type) + " is needed, not " + given.text()};
    }

    bool structs_fit(const ParameterTree& tree, Given& given, const Path& path) {
        bool is_list = false;
        const Dims* shape = given.as_structs(call_, tree, is_list, why_);
        const std::int64_t rank = leaf_of(call_, tree).rank;
        root_ = &given;
        if (is_list) return !question_.deep || list_fits(tree, rank, given, path);
        if (shape == nullptr) return fail(path);
        const std::size_t dims = static_cast<std::size_t>(rank) + tree.extents.size();
        cost_ += given.structs_cost();
        if (shape->size() == dims) return true;
        return fail(path, ErrorCode::rank_mismatch, [&] {
            return "expected " + tree.type + " tensor[" + std::to_string(dims) + "], found shape " +
                   to_string(*shape);
        });
    }

    /// `depth`: of lists that are still around the structs. The dearest of them counts.
    bool list_fits(const ParameterTree& tree, std::int64_t depth, Given& given, const Path& path) {
        if (depth == 0) return array_fits(tree, 0, 0, given, path);
        if (!given.length(false, is_part(given))) {
            return fail(path, ErrorCode::rank_mismatch, [&] {
                return "lists of " + tree.type + " structs, nested " +
                       std::to_string(leaf_of(call_, tree).rank) + " deep, are needed, not " + given.text();
            });
        }
        const int before = cost_;
        int dearest = before;
        std::int64_t i = 0;
        bool go_on = true;
        given.each_element([&](Given& element) {
            cost_ = before;
            go_on = list_fits(tree, depth - 1, element, {&path, manifest::element_name(i++)});
            dearest = std::max(dearest, cost_);
            return go_on && contents_ == 0;
        });
        cost_ = dearest;
        return go_on;
    }

    bool fields_fit(const ParameterTree& tree, Given& given, const Path& path) {
        std::vector<Given*> fields;
        if (manifest::is_array(tree)) {
            if (!has_elements(tree, given, why_)) return fail(path);
            for (std::size_t i = 0; i < tree.fields.size(); ++i) fields.push_back(&given.element(i));
        } else {
            if (!take_fields(call_, tree, given, true, fields, why_)) return fail(path);
            check_class(tree, given.as_struct(tree, is_tangent(call_, tree)), path);
        }
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i] != nullptr && fields[i]->is_nothing()) fields[i] = nullptr;
            if (!parameter_fits(tree.fields[i], fields[i], {&path, tree.fields[i].name})) return false;
        }
        return true;
    }

    const Call& call_;
    const FitQuestion& question_;
    Words* words_;
    Refusal* why_;
    const Given* root_ = nullptr;  ///< what is passed as one thing, and is being looked into
    int cost_ = 0;
    bool is_unlikely_ = false;
    std::size_t contents_ = 0;  ///< see Misfit
    std::size_t distance_ = 0;  ///< see Misfit
};

/// A tangent has none of the fields that can't be differentiated.
bool are_tangents(const Call& call, const ParameterTree& structure, const std::vector<Given*>& fields,
                  Refusal* why) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const ParameterTree& field = structure.fields[i];
        if (fields[i] == nullptr || field.form != Form::leaf || leaf_of(call, field).differentiable) continue;
        return refused(why, ErrorCode::unknown_name, [&] {
            return "field '" + field.name + "' of " + structure.type +
                   " can't be differentiated, so it has no tangent: leave it out instead of giving " +
                   fields[i]->text();
        });
    }
    return true;
}

}  // namespace

std::optional<int> fit_cost(const FitQuestion& question) {
    Fitter fitter(question, nullptr);
    return fitter.run() ? std::optional(fitter.cost()) : std::nullopt;
}

Misfit explain_misfit(const FitQuestion& question) {
    Words words;
    Fitter(question, &words).run();
    return words.misfit;
}

std::optional<int> field_cost(const Call& call, const Argument& leaf, std::size_t level, Given& given,
                              bool numbers, Refusal* why) {
    const ArgShape* found = given.as_elements(call, leaf, true, why);
    if (found == nullptr) return std::nullopt;
    const auto no = [&](ErrorCode code, auto text) {
        refused(why, code, text);
        return std::optional<int>();
    };
    const ScalarType wanted = leaf.element.scalar;
    const Dims extents(std::span(leaf.element.extents).subspan(level));
    const bool vector = extents.size() == 1 && ends_in_vector(leaf);
    const bool weak = found->kind == ArgShape::Kind::weak;
    if (!weak && found->scalar != wanted) {
        return no(ErrorCode::type_mismatch, [&] {
            const auto name = [](ScalarType scalar) {
                return std::string(manifest::scalar_words[static_cast<std::size_t>(scalar)]);
            };
            return "dtype " + name(found->scalar) + " where " + name(wanted) +
                   " is needed; convert it with " + astype_text(wanted);
        });
    }
    if (found->components && !ends_in_vector(leaf)) {
        return no(ErrorCode::type_mismatch,
                  [&] { return "the field has no x, y, z and w, unlike " + given.text(); });
    }
    const bool repeated = weak && found->shape.empty() && vector;
    if (!repeated && !(found->shape == extents)) {
        return no(ErrorCode::shape_mismatch, [&] {
            return (weak ? given.text() : "the array") + " has shape " + to_string(found->shape) +
                   ", the field's " + manifest::scalar_words[static_cast<std::size_t>(wanted)] +
                   " values have shape " + to_string(extents);
        });
    }
    if (!weak) return 0;
    const std::optional<int> cost = weak_cost(*found, wanted);
    if (numbers && !given.holds(wanted, why)) return std::nullopt;
    if (numbers && !cost) {
        return no(ErrorCode::type_mismatch,
                  [&] { return "expected " + type_text(leaf) + ", found " + found_text(*found); });
    }
    return cost.value_or(0) + (repeated ? repeated_cost : 0);
}

bool take_fields(const Call& call, const ParameterTree& structure, Given& whole, bool part,
                 std::vector<Given*>& fields, Refusal* why) {
    const bool apart = structure.form == Form::fields;
    const bool partial = is_tangent(call, structure);
    const bool is_none = structure.own == OwnStruct::optional && whole.is_nothing();
    Given& given = whole.as_struct(structure, partial);
    if (!given.is_object(part)) {
        return refused(why, ErrorCode::type_mismatch, [&] {
            return with_article(structure.type) + " is needed (" +
                   (structure.own == OwnStruct::tuple
                        ? "a tuple of " + std::to_string(structure.fields.size()) + ", "
                        : "") +
                   "a dict or an object with the fields " + field_names(structure) + "), not " + shown(given);
        });
    }
    if (const std::string other = given.other_field(structure); !other.empty()) {
        return refused(why, ErrorCode::unknown_name, [&] {
            return structure.type + " has no field " + other + "; it has " + field_names(structure);
        });
    }
    fields.reserve(structure.fields.size());
    for (std::size_t i = 0; i < structure.fields.size(); ++i) {
        const ParameterTree& field = structure.fields[i];
        const bool made = apart && field.form == Form::leaf && !has_host_value(leaf_of(call, field));
        Given* found = given.field(structure, i);
        if (found == nullptr && !made && !partial && role_of(call, field) == manifest::Role::in)
            found = given.default_field(structure, i);
        if (found == nullptr && !made && !partial && !is_none) {
            return refused(why, ErrorCode::missing_argument, [&] {
                return "field '" + field.name + "' of " + structure.type + " is missing in " + shown(given);
            });
        }
        if (found != nullptr && (made || partial) && found->is_nothing()) found = nullptr;
        if (found != nullptr && made) {
            return refused(why, ErrorCode::type_mismatch, [&] {
                return "the kernel makes field '" + field.name + "' of " + structure.type +
                       " itself: leave it out instead of giving " + found->text();
            });
        }
        fields.push_back(found);
    }
    // In what an object's new tangent goes to, the fields that stay as they are have none of their own
    // either.
    const bool listed =
        partial && given.lists_fields() && leaf_of(call, structure).name.starts_with("tangents.");
    return !listed || are_tangents(call, structure, fields, why);
}

bool is_as_long(const ParameterTree& structure, std::size_t dimension, Given& given, bool part,
                Refusal* why) {
    const auto count = static_cast<std::size_t>(structure.extents[dimension]);
    const std::optional<std::size_t> length = given.length(true, part);
    if (length == count) return true;
    const ErrorCode code = length ? ErrorCode::shape_mismatch : ErrorCode::type_mismatch;
    return refused(why, code, [&] {
        return "a list of " + std::to_string(count) + " " + structure.type + " is needed, " +
               (length ? "found " + std::to_string(*length) : "not " + given.text());
    });
}

bool has_elements(const ParameterTree& array, Given& given, Refusal* why) {
    const std::optional<std::size_t> length = given.length(false, true);
    if (length == array.fields.size()) return true;
    const ErrorCode code = length ? ErrorCode::shape_mismatch : ErrorCode::type_mismatch;
    return refused(why, code, [&] {
        return "a list of " + std::to_string(array.fields.size()) + " is needed for '" + array.type + "', " +
               (length ? "found " + std::to_string(*length) : "not " + shown(given));
    });
}

}  // namespace kf::detail
