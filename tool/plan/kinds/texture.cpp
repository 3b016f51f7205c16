// Planning textures: which kinds feed which parameters, and what format they have.
#include "plan/kinds/texture.h"

#include <algorithm>

#include "core/images.h"
#include "plan/accumulate.h"
#include "plan/kinds/constant.h"
#include "plan/types.h"
#include "spec/texture_formats.h"

namespace kf::gen::kinds {

namespace {

using manifest::Access;
using manifest::Element;
using manifest::Role;

/// Returns the type of a texel's component in shaders: "float", "int" or "uint"; empty where it can't be one.
std::string texel_of(ScalarType scalar) {
    if (scalar == ScalarType::float32 || scalar == ScalarType::float16) return "float";
    if (scalar == ScalarType::int32) return "int";
    return scalar == ScalarType::uint32 ? "uint" : "";
}

/// How many components there are, of a scalar or vector.
std::int64_t components_of(const Element& element) {
    return element.extents.empty() ? 1 : element.extents.front();
}

/// The format of what is written, where nothing says another.
std::string default_format(const Element& element) {
    const std::int64_t components = components_of(element);
    const std::string form = components == 1 ? "r" : components == 2 ? "rg" : "rgba";
    switch (element.scalar) {
        case ScalarType::float16: return form + "16f";
        case ScalarType::int32: return form + "32i";
        case ScalarType::uint32: return form + "32ui";
        default: return form + "32f";
    }
}

/// Returns whether shaders have such components of texels in the format.
bool fits_texel(const TextureFormatInfo& format, const std::string& texel) {
    if (format.is_float()) return texel == "float";
    return texel == (format.texel == TexelClass::sint ? "int" : "uint");
}

/// "float3" of a texture, or of the parameter that texels feed.
std::string element_text(const KindTarget& target) { return kind_name(target.type); }

/// Returns a text on the formats in which such elements can be written.
std::string wanted_format(const Element& element, const std::string& texel) {
    const std::int64_t components = components_of(element);
    const std::string form = components == 1 ? "r" : components == 2 ? "rg" : "rgba";
    return "a format of " +
           std::string(components == 1   ? "one component"
                       : components == 2 ? "two components"
                                         : "four components") +
           " that shaders have as " + texel + "s, such as " + form +
           (texel == "float" ? "8, " + form + "16f"
            : texel == "int" ? "8i, " + form + "16i"
                             : "8ui, " + form + "16ui") +
           " or " +
           default_format({texel == "float" ? ScalarType::float32
                           : texel == "int" ? ScalarType::int32
                                            : ScalarType::uint32,
                           element.extents});
}

/// Chooses the format: the kind's, else the source's, else one for the element. A texture that is only read
/// needs none.
std::optional<Diagnostic> settle_format(const KindSpec& kind, const KindTarget& target,
                                        const Element& element, Texture& texture) {
    const bool is_written = texture.access != Access::read;
    const bool by_source = kind.format.empty() && is_written && !texture.per_pixel;
    const std::string& stated = by_source ? target.type.texture.format : kind.format;
    if (stated.empty()) {
        if (!is_written) return std::nullopt;
        if (!texture.per_pixel && target.type.texture.is_fraction) {
            return feed_error(kind, "texture-format",
                              target_name(target) + ": a '" + target.type.name +
                                  "' may have any format of such fractions, and none is stated",
                              {R"(state it, as in {"kind": ")" + kind.spelling + R"(", "format": "rgba8"})"});
        }
        texture.format = default_format(element);
        return std::nullopt;
    }
    if (std::optional<Diagnostic> failure = check_format(stated, kind.location)) {
        failure->message = target_name(target) + ": " + failure->message;
        return failure;
    }
    const TextureFormatInfo& format = info_of(texture_format_named(stated).value());
    const auto misfit = [&](const std::string& why, const std::string& cure) {
        return feed_error(kind, "texture-format",
                          target_name(target) + ": the format '" + stated + "'" +
                              (by_source ? ", which the Slang source states, " : " ") + why,
                          {cure});
    };
    const std::string element_name = "'" + element_text(target) + "'";
    if (!fits_texel(format, texture.texel)) {
        return misfit("has texels that are no " + texture.texel + "s to shaders, as a texture of " +
                          element_name + " has",
                      is_written ? "use " + wanted_format(element, texture.texel)
                                 : "take a texture of another element type");
    }
    texture.format = stated;
    if (!is_written) return std::nullopt;
    if (format.texel == TexelClass::srgb)
        return misfit("can't be written", "use rgba8, and convert in Slang, or only read the texture");
    const std::int64_t components = components_of(element);
    if (format.components != static_cast<std::uint32_t>(components == 3 ? 4 : components)) {
        return misfit("has " + std::to_string(format.components) +
                          (format.components == 1 ? " component" : " components") + ", which " +
                          element_name + " doesn't fit",
                      "use " + wanted_format(element, texture.texel));
    }
    return std::nullopt;
}

/// Returns the error in a whole texture as this parameter.
std::optional<Diagnostic> check_whole(const KindSpec& kind, const KindTarget& target) {
    const Type& type = target.type;
    const auto error = [&](const char* id, const std::string& message, std::vector<std::string> notes) {
        return feed_error(kind, id, target_name(target) + ": " + message, std::move(notes));
    };
    if (type.texture.is_multisampled) {
        return error("type-not-supported",
                     "a '" + type.name + "' is multisampled, which this version of kfgen doesn't pass",
                     {"resolve it to a texture of one sample a texel, and take a " +
                      std::string(type.texture.is_array ? "Texture2DArray" : "Texture2D")});
    }
    const std::string fitting = texture_kind(type);
    if (kind.spelling != fitting) {
        return error("argument-type",
                     "'" + kind.spelling + "' can't feed a parameter of type '" + type.name + "'",
                     {"give it " + fitting});
    }
    if (target.role != Role::in) {
        return error(
            "argument-type",
            "a '" + type.name + "' says itself what is written: it is no result, out or inout parameter",
            {"leave out or inout away"});
    }
    if (kind.map) {
        return error("argument-map",
                     "\"map\" places dimensions in the call, and calls take a '" + type.name + "' whole",
                     {"leave it out"});
    }
    return std::nullopt;
}

/// A parameter that texels feed, or that is written to them.
Outcome<manifest::Argument> feed_texels(const KindSpec& kind, const KindTarget& target) {
    const bool is_vector = target.type.kind == TypeKind::scalar || target.type.kind == TypeKind::vector;
    const std::string texel = is_vector && !target.type.is_enum ? texel_of(target.type.scalar) : "";
    if (target.type.kind == TypeKind::resource) {
        return feed_error(
            kind, "type-not-supported",
            target_name(target) + ": a '" + target.type.name + "' can't be passed by this version of kfgen",
            notes_of_refused(target.type));
    }
    if (texel.empty()) {
        return feed_error(
            kind, "argument-type",
            target_name(target) + ": texels can't feed a parameter of type '" + target.type.name + "'",
            {target.type.kind == TypeKind::tensor
                 ? "give it tensor[" + std::to_string(target.type.extent) +
                       "]; a texture's to_tensor() makes a tensor of its texels"
                 : "'" + kind.spelling +
                       "' feeds textures of its dimensions, and texel by texel float, half, int and uint, "
                       "and vectors of these"});
    }
    Texture texture;
    texture.dimension = kind.texture.dimension;
    texture.is_array = kind.texture.array;
    texture.texel = texel;
    texture.per_pixel = true;
    const bool is_written = target.role != Role::in;
    if (is_written != kind.texture.writable) {
        const std::string fitting = is_written ? "rw" + kind.spelling : kind.spelling.substr(2);
        return feed_error(kind, "argument-type",
                          target_name(target) + ": '" + kind.spelling + "' is for what calls " +
                              (is_written ? "read, and this is written" : "write, and this is only read"),
                          {"give it " + fitting});
    }
    texture.access = is_written ? Access::read_write : Access::read;
    const std::int64_t rank = dimensions_of(texture.dimension) + (has_layers(texture) ? 1 : 0);
    manifest::Argument argument;
    argument.name = target.argument;
    argument.role = target.role;
    argument.element = element_of(target.type).value();
    argument.trailing = argument.element.extents;
    argument.rank = argument.call_rank = rank;
    if (auto failure = settle_format(kind, target, argument.element, texture)) return *failure;
    argument.kind = std::move(texture);
    return with_map(std::move(argument), kind, target);
}

}  // namespace

Outcome<manifest::Argument> feed_texture(const KindSpec& kind, const KindTarget& target) {
    if (target.type.kind != TypeKind::texture) return feed_texels(kind, target);
    if (auto failure = check_whole(kind, target)) return *failure;
    const Type& type = target.type.element.front();
    const std::optional<Element> element = element_of(type);
    const bool is_vector = type.kind == TypeKind::scalar || type.kind == TypeKind::vector;
    Texture texture;
    texture.texel = element && is_vector ? texel_of(element->scalar) : "";
    if (texture.texel.empty()) {
        return feed_error(kind, "type-not-supported",
                          target_name(target) + ": textures of '" + type.name +
                              "' can't be passed by this version of kfgen",
                          {"expected float, half, int or uint, or a vector of these"});
    }
    texture.access = target.type.is_writable ? Access::read_write : Access::read;
    texture.dimension = target.type.texture.dimension;
    texture.is_array = target.type.texture.is_array;
    texture.is_combined = target.type.texture.is_combined;
    manifest::Argument argument;
    argument.name = target.argument;
    argument.element = *element;
    argument.trailing = element->extents;
    argument.rank = argument.inner_rank = dimensions_of(texture.dimension);
    if (auto failure = settle_format(kind, target, *element, texture)) return *failure;
    argument.kind = std::move(texture);
    return argument;
}

std::string gradient_refusal(const Texture&, const AccumulateWay& way) {
    return is_for_gradients(way) ? "a texture has no gradient; make it a DiffTexture2D, or a tensor" : "";
}

void become_tangent(const Texture&, PlannedArgument& argument) {
    argument.host.kind = Constant{{"0"}};
    argument.host.element = {ScalarType::uint64, {}};
    argument.host.trailing.clear();
    argument.host.rank = argument.host.inner_rank = 0;
}

}  // namespace kf::gen::kinds
