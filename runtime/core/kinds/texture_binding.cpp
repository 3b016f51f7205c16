// What the binder asks of parameters that are textures.
#include "core/kinds/texture_binding.h"

#include "core/bind_error.h"
#include "core/describe.h"

namespace kf::detail {

using manifest::Argument;

std::string describe(const kinds::Texture& texture, const Argument& argument) {
    return type_text(argument) + " " + texture_word(texture);
}

std::optional<int> conversion_cost(const kinds::Texture&, const Argument&, const ArgShape& given) {
    return given.kind == ArgShape::Kind::texture ? std::optional(0) : std::nullopt;
}

void read_given(const kinds::Texture&, const Argument&, const Arg& arg, ArgumentView& view) {
    if (arg.kind != Arg::Kind::texture) return;
    view.texture = arg.texture;
    view.sampler = arg.sampler;
}

void check_given(const kinds::Texture&, const BindRequest& request, std::size_t i) {
    fail(request, i, ErrorCode::type_mismatch, "this runtime doesn't bind textures");
}

Dims flat_extents(const kinds::Texture&, const Argument&, const ArgumentView& view) {
    return view.data.extents;
}

void bind_view(const kinds::Texture&, const BindRequest&, std::size_t, Binding&) {}

}  // namespace kf::detail
