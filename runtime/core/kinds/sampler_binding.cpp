// What the binder asks of parameters that are samplers.
#include "core/kinds/sampler_binding.h"

#include "core/bind_error.h"
#include "core/describe.h"

namespace kf::detail {

using manifest::Argument;

std::string describe(const kinds::Sampler& sampler, const Argument&) {
    return sampler.is_comparison ? "comparison sampler" : "sampler";
}

std::optional<int> conversion_cost(const kinds::Sampler&, const Argument&, const ArgShape& given) {
    return given.kind == ArgShape::Kind::sampler ? std::optional(0) : std::nullopt;
}

void read_given(const kinds::Sampler&, const Argument&, const Arg& arg, ArgumentView& view) {
    if (arg.kind == Arg::Kind::sampler) view.sampler = arg.sampler;
}

void check_given(const kinds::Sampler&, const BindRequest& request, std::size_t i) {
    fail(request, i, ErrorCode::type_mismatch, "this runtime doesn't bind samplers");
}

}  // namespace kf::detail
