// Planning tensors of which each call reads or writes one element.
#include "plan/kinds/tensor.h"

namespace kf::gen::kinds {

Outcome<manifest::Argument> feed_tensor(const KindSpec& kind, const Feed& target) {
    Outcome<manifest::Argument> fed = feed_element(kind, target, {kind.rank, 0});
    if (!fed) return fed;
    fed.value().kind = Tensor{kind.contiguous_only};
    return with_map(std::move(fed.value()), kind, target);
}

std::string kind_text(const Tensor&, const manifest::Argument& argument, const std::string& element) {
    return tensor_kind_text(argument, element);
}

}  // namespace kf::gen::kinds

namespace kf::gen {

std::string tensor_kind_text(const manifest::Argument& argument, const std::string& element) {
    return "tensor<" + element + ">[" + std::to_string(argument.rank) + "]";
}

}  // namespace kf::gen
