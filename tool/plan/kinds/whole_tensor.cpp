// Parameters that are tensors themselves.
#include "plan/kinds/whole_tensor.h"

#include "plan/types.h"

namespace kf::gen {

namespace {

bool is_unsized_array(const Type& type) {
    return type.kind == TypeKind::array && type.extent <= 0 && type.element.size() == 1;
}

/// Whether kf.slang adds the scalar atomically.
bool can_add(ScalarType scalar) {
    return is_floating(scalar) || scalar == ScalarType::int32 || scalar == ScalarType::uint32 ||
           scalar == ScalarType::int64 || scalar == ScalarType::uint64;
}

}  // namespace

manifest::Access access_of(TensorForm form) {
    using manifest::Access;
    if (form == TensorForm::atomic) return Access::add;
    if (is_view(form)) return Access::view;
    if (form == TensorForm::diff_output) return Access::read_write;
    if (!writes(form)) return Access::read;
    return reads(form) ? Access::read_write : Access::write;
}

bool is_differentiable(TensorForm form) {
    return form == TensorForm::diff_read || form == TensorForm::diff_write ||
           form == TensorForm::diff_read_write || form == TensorForm::diff_output ||
           form == TensorForm::diff_view || form == TensorForm::diff_texture;
}

bool reads(TensorForm form) {
    return form != TensorForm::write && form != TensorForm::diff_write && form != TensorForm::diff_output;
}

bool writes(TensorForm form) {
    return form != TensorForm::read && form != TensorForm::diff_read && form != TensorForm::diff_texture;
}

bool holds_struct_tensor(const PlannedParameter& parameter) {
    return parameter.type.kind == TypeKind::tensor && parameter.host.form == manifest::Form::tensor;
}

bool is_differentiable_leaf(const PlannedArgument& leaf) {
    return leaf.type.kind == TypeKind::tensor && leaf.type.element.front().differentiable && !leaf.no_diff;
}

std::string unsized_array_advice(const std::string& element) {
    return "declare it Tensor<" + element + ", 1>, after import kf, and give it tensor[1]";
}

std::optional<Diagnostic> check_tensor_parameter(const KindSpec& kind, const KindTarget& target) {
    const auto error = [&](const char* id, const std::string& message, std::vector<std::string> notes = {}) {
        return Diagnostic{Severity::error, id, kind.location, target_name(target) + ": " + message,
                          std::move(notes)};
    };
    const Type& type = target.type;
    if (is_unsized_array(type)) {
        const std::string element = type.element.front().name;
        return error("type-not-supported",
                     "an array without a size, '" + type.name + "', can't be passed to SPIR-V",
                     {unsized_array_advice(element)});
    }
    if (type.kind != TypeKind::tensor) return std::nullopt;
    if (target.role == manifest::Role::result) {
        return error("type-not-supported", "a function can't return a '" + type.name + "'",
                     {"take a WTensor and store to it"});
    }
    if (target.role != manifest::Role::in) {
        return error("type-not-supported",
                     "a '" + type.name + "' says itself what is written: it is no out or inout parameter",
                     {"leave out or inout away, and use WTensor or RWTensor where it is written"});
    }
    const std::optional<manifest::Element> element = element_of(type.element.front());
    if (!element) {
        return error("type-not-supported",
                     "tensors of '" + type.element.front().name +
                         "' can't be passed by this version of kfgen; expected a scalar, "
                         "a vector of 2 to 4, a matrix or a sized array of those",
                     notes_of_refused(type.element.front()));
    }
    if (!is_view(type.form) && (type.extent < 1 || type.extent > max_rank)) {
        return error("type-not-supported", "a '" + type.name + "' has rank " + std::to_string(type.extent) +
                                               "; tensors have a rank of 1 to " + std::to_string(max_rank));
    }
    const Type& inner = innermost_of(type);
    if (type.form == TensorForm::atomic && (inner.is_enum || !can_add(element->scalar))) {
        return error("type-not-supported",
                     "'" + (inner.is_enum ? inner.name : to_string(element->scalar)) +
                         "' can't be added to atomically",
                     {"an AtomicTensor is made of float, half, double, int, uint, int64_t or uint64_t"});
    }
    if (kind.kind == Kind::value) {
        return error("argument-type",
                     "'" + kind.spelling + "' can't feed a parameter of type '" + type.name + "'",
                     {"give it tensor[" + (is_view(type.form) ? "rank" : std::to_string(type.extent)) + "]"});
    }
    return std::nullopt;
}

Diagnostics check_view_gradients(const std::vector<GradientWish>& wishes,
                                 const std::vector<PlannedArgument>& arguments) {
    Diagnostics errors;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const PlannedArgument& argument = arguments[i];
        const bool never = wishes[i].gradient == manifest::Gradient::never;
        if (!has_one_gradient(argument.host) || !argument.host.differentiable ||
            (!never && !wishes[i].overwrites))
            continue;
        errors.push_back({Severity::error,
                          "backward-input",
                          argument.location,
                          "argument '" + argument.host.name +
                              "': " + (never ? R"("grad": false)" : R"("accumulate": "overwrite")") +
                              ", and stores of the function read the gradient of a '" + argument.type.name +
                              "'",
                          {never ? R"(leave "grad" out: what is given without a gradient gets none)"
                                 : R"(leave "accumulate" out, and zero the gradient before)"}});
    }
    return errors;
}

}  // namespace kf::gen

namespace kf::gen::kinds {

namespace {

/// All dimensions are the view's, but those that its elements have and the kind's don't.
std::int64_t rank_of_view(const KindSpec& kind, const KindTarget& target) {
    const std::optional<manifest::Element> element = element_of(target.type.element.front());
    const std::optional<manifest::Element> named =
        kind.element.empty() ? element : parse_element(kind.element);
    if (!element || !named) return kind.rank;
    return kind.rank + static_cast<std::int64_t>(named->extents.size()) -
           static_cast<std::int64_t>(element->extents.size());
}

}  // namespace

Outcome<manifest::Argument> feed_whole_tensor(const KindSpec& kind, const KindTarget& target) {
    const std::int64_t inner_rank =
        is_view(target.type.form) ? rank_of_view(kind, target) : target.type.extent;
    if (inner_rank < 1) {
        return feed_error(kind, "argument-rank",
                          target_name(target) + ": '" + kind.spelling + "' leaves no dimension for a '" +
                              target.type.name + "'");
    }
    Outcome<manifest::Argument> fed = feed_element(kind, target, {kind.rank, inner_rank});
    if (!fed) return fed;
    fed.value().kind = WholeTensor{access_of(target.type.form), kind.contiguous_only,
                                   is_view(target.type.form) && target.only_read};
    return with_map(std::move(fed.value()), kind, target);
}

std::string gradient_refusal(const WholeTensor& tensor, const AccumulateWay& way) {
    if (tensor.access == manifest::Access::view && way.overwrite)
        return "stores of the function read the gradient that would be replaced";
    if (way.combine == manifest::Accumulate::sum) return {};
    return "calls read any elements of a tensor parameter, whose gradients can only be added up";
}

}  // namespace kf::gen::kinds
