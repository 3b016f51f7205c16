// What the binder asks of constants.
#include "core/kinds/constant_binding.h"

namespace kf::detail {

std::string describe(const kinds::Constant& constant, const manifest::Argument&) {
    return constant_text(constant);
}

std::optional<int> conversion_cost(const kinds::Constant&, const manifest::Argument&, const ArgShape& given) {
    return given.kind == ArgShape::Kind::absent ? std::optional(0) : std::nullopt;
}

}  // namespace kf::detail
