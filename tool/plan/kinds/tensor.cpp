// Planning tensors of which each call reads or writes one element.
#include "plan/kinds/tensor.h"

namespace kf::gen::kinds {

Outcome<manifest::Argument> feed_tensor(const KindSpec& kind, const KindTarget& target) {
    Outcome<manifest::Argument> fed = feed_element(kind, target, {kind.rank, 0});
    if (!fed) return fed;
    fed.value().kind = Tensor{kind.contiguous_only};
    return with_map(std::move(fed.value()), kind, target);
}

}  // namespace kf::gen::kinds
