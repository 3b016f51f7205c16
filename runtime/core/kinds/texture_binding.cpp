// What the binder asks of parameters that are textures, and of those that textures feed: whether one fits,
// and how calls find their texels in it.
#include "core/kinds/texture_binding.h"

#include "core/bind_error.h"
#include "core/describe.h"
#include "core/texture_rules.h"
#include "core/views.h"

namespace kf::detail {

using manifest::Argument;

namespace {

const char* class_text(TextureFormat format) {
    const TextureFormatInfo& info = info_of(format);
    return info.is_float() ? "floats" : info.texel == TexelClass::sint ? "ints" : "uints";
}

[[noreturn]] void refuse_texture(const BindRequest& request, std::size_t i, ErrorCode code,
                                 const std::string& why) {
    fail(request, i, code,
         "expected " + host_text(request.call, i) + ", found " +
             with_article(to_string(request.arguments[i].texture->shape())) + why);
}

void check_sampler_of(const BindRequest& request, std::size_t i) {
    const Sampler* sampler = request.arguments[i].sampler;
    if (sampler == nullptr) {
        refuse_texture(request, i, ErrorCode::missing_argument,
                       " without a sampler: give it as texture.with_sampler(sampler)");
    }
    if (sampler->is_comparison()) {
        refuse_texture(request, i, ErrorCode::type_mismatch,
                       " with a sampler that compares: give it one that doesn't");
    }
}

/// The extents of a cube that is made.
void check_made_cube(const kinds::Texture& texture, const BindRequest& request, std::size_t i,
                     const Dims& extents) {
    const bool has_faces = texture.is_array ? extents[0] % 6 == 0 : extents[0] == 6;
    if (has_faces && extents[1] == extents[2]) return;
    fail(request, i, ErrorCode::shape_mismatch,
         "a cube has 6 square faces, and the call's shape is " + to_string(extents));
}

void plan_texture(const kinds::Texture& texture, const BindRequest& request, std::size_t i,
                  Binding& binding) {
    plan_output(request, i, binding);
    BoundArgument& bound = binding.arguments[i];
    if (binding.total == 0) {
        fail(request, i, ErrorCode::shape_mismatch,
             "the call's shape is " + to_string(binding.shape) + ", and no texture is made without texels");
    }
    if (texture.dimension == kinds::TextureDimension::cube) {
        check_made_cube(texture, request, i, bound.allocate_shape);
    }
}

}  // namespace

std::string describe(const kinds::Texture& texture, const Argument& argument) {
    return type_text(argument) + " " + texture_word(texture) +
           (texture.format.empty() ? "" : " of " + texture.format) +
           (texture.is_combined ? " with a sampler" : "");
}

namespace {

/// Why the texture is none that the parameter takes, behind "found a …".
std::string misfit_text(const kinds::Texture& texture, const AnyTexture& given) {
    const TextureRules rules = rules_of(texture);
    const TextureShape& shape = given.shape();
    if (!rules.takes_dimensions(given.state()->range)) {
        const bool has_more = (shape.is_array || shape.is_cube) && !has_layers(texture);
        return has_more ? ": layer() gives one of its layers" : "";
    }
    if (!rules.takes_class(shape.format))
        return std::string(", whose texels are read as ") + class_text(shape.format);
    if (rules.takes_format(shape.format)) return "";
    if (!rules.is_written) return ": the call spec says \"format\": \"" + texture.format + "\"";
    return ": kernels write texels of " + texture.format +
           " alone; make it so, or say its format in the call spec (\"format\": \"" +
           std::string(info_of(shape.format).name) + "\")";
}

}  // namespace

std::string texture_misfit(const Argument& argument, const ArgShape& given) {
    const auto* texture = std::get_if<kinds::Texture>(&argument.kind);
    const bool is_given = given.kind == ArgShape::Kind::texture && given.texture != nullptr && *given.texture;
    return texture != nullptr && is_given ? misfit_text(*texture, *given.texture) : "";
}

std::optional<int> conversion_cost(const kinds::Texture& texture, const Argument& argument,
                                   const ArgShape& given) {
    if (given.kind == ArgShape::Kind::absent) {
        return is_only_written(argument.role) ? std::optional(0) : std::nullopt;
    }
    if (given.kind != ArgShape::Kind::texture || given.texture == nullptr || !*given.texture) {
        return std::nullopt;
    }
    const TextureRules rules = rules_of(texture);
    const TextureState& state = *given.texture->state();
    const bool fits = rules.takes_dimensions(state.range) && rules.takes_format(state.shape.format);
    return fits ? std::optional(0) : std::nullopt;
}

void read_given(const kinds::Texture&, const Argument&, const Arg& arg, ArgumentView& view) {
    if (arg.kind != Arg::Kind::texture) return;
    view.texture = arg.texture;
    view.sampler = sampler_of(arg);
    if (!*arg.texture) return;
    view.data.extents = arg.texture->state()->texels;
}

void check_given(const kinds::Texture& texture, const BindRequest& request, std::size_t i) {
    const AnyTexture& given = *request.arguments[i].texture;
    if (!given) {
        fail(request, i, ErrorCode::missing_argument,
             "expected " + host_text(request.call, i) + ", found a null texture");
    }
    const TextureRules rules = rules_of(texture);
    if (!rules.takes_dimensions(given.state()->range)) {
        refuse_texture(request, i, ErrorCode::rank_mismatch, misfit_text(texture, given));
    }
    if (!rules.takes_format(given.format())) {
        refuse_texture(request, i, ErrorCode::type_mismatch, misfit_text(texture, given));
    }
    if (rules.is_written && !given.writable()) {
        refuse_texture(request, i, ErrorCode::type_mismatch,
                       ", which calls only read: make it with writable=True (in C++ as an RWTexture)");
    }
    if (rules.is_combined) check_sampler_of(request, i);
}

Dims flat_extents(const kinds::Texture& texture, const Argument&, const ArgumentView& view) {
    return texture.per_pixel ? view.data.extents : Dims();
}

void bind_view(const kinds::Texture& texture, const BindRequest& request, std::size_t i, Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    const ArgumentView& view = request.arguments[i];
    if (!texture.per_pixel) return;
    if (view.kind == Arg::Kind::texture) {
        // Kernels find a texel by the call's index times these: 0 where all calls share what is there.
        ScalarView texels{true, 0, view.data.extents, Dims(view.data.extents.size(), 1)};
        for (std::size_t k = 0; k < argument.trailing.size(); ++k) {
            texels.extents.push_back(1);
            texels.strides.push_back(0);
        }
        binding.arguments[i].data = along_call(argument, texels, binding.shape.size());
    } else if (runs_forward(request.pass) && is_output(argument)) {
        plan_texture(texture, request, i, binding);
        Dims& strides = binding.arguments[i].data.strides;
        for (std::size_t d = 0; d < strides.size(); ++d) strides[d] = binding.shape[d] == 1 ? 0 : 1;
    }
}

}  // namespace kf::detail
