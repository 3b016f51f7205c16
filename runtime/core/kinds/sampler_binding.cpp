// What the binder asks of parameters that are samplers: whether one fits.
#include "core/kinds/sampler_binding.h"

#include <kf/sampler.h>

#include "core/bind_error.h"
#include "core/describe.h"

namespace kf::detail {

using manifest::Argument;

std::string describe(const kinds::Sampler& sampler, const Argument&) {
    return sampler.is_comparison ? "comparison sampler" : "sampler";
}

std::optional<int> conversion_cost(const kinds::Sampler& sampler, const Argument&, const ArgShape& given) {
    if (given.kind != ArgShape::Kind::sampler || given.sampler == nullptr || !*given.sampler) {
        return std::nullopt;
    }
    return given.sampler->is_comparison() == sampler.is_comparison ? std::optional(0) : std::nullopt;
}

void read_given(const kinds::Sampler&, const Argument&, const Arg& arg, ArgumentView& view) {
    if (arg.kind == Arg::Kind::sampler) view.sampler = arg.sampler;
}

void check_given(const kinds::Sampler& sampler, const BindRequest& request, std::size_t i) {
    const Sampler& given = *request.arguments[i].sampler;
    if (!given) {
        fail(request, i, ErrorCode::missing_argument,
             "expected " + host_text(request.call, i) + ", found a null sampler");
    }
    if (given.is_comparison() == sampler.is_comparison) return;
    fail(request, i, ErrorCode::type_mismatch,
         sampler.is_comparison
             ? "expected a comparison sampler, found one that doesn't compare: make it with `compare`"
             : "expected a sampler, found one that compares: make it without `compare`");
}

}  // namespace kf::detail
