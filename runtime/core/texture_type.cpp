// What a texture must be to be given a type of C++'s.
#include <kf/error.h>
#include <kf/texture_kind.h>

#include <string>

#include "core/describe.h"

namespace kf::detail {
namespace {

bool is_read_as(const TextureFormatInfo& format, ScalarType scalar) {
    if (is_floating(scalar)) return format.is_float();
    return format.texel == (scalar == ScalarType::int32 ? TexelClass::sint : TexelClass::uint);
}

std::string kind_text(const TextureKindTraits& traits) {
    return (traits.is_cube ? "cube" : std::to_string(traits.dimensions) + "D") +
           (traits.is_array ? " array" : "");
}

}  // namespace

void check_texture_type(const AnyTexture& texture, TextureKind kind, const ElementType& element,
                        bool writable) {
    if (!texture) return;
    const TextureShape& shape = texture.shape();
    const TextureKindTraits traits = traits_of(kind);
    const bool is_alike = static_cast<std::size_t>(shape.dimensions) == traits.dimensions &&
                          shape.is_cube == traits.is_cube && shape.is_array == traits.is_array;
    if (!is_alike) {
        throw ArgumentError(ErrorCode::rank_mismatch,
                            "expected a " + kind_text(traits) + " texture, found a " + to_string(shape));
    }
    const TextureFormatInfo& format = info_of(shape.format);
    if (!is_read_as(format, element.scalar)) {
        throw ArgumentError(ErrorCode::type_mismatch, "expected a texture of " + to_string(element) +
                                                          ", found " + std::string(format.name) +
                                                          ", whose texels are read as " +
                                                          (format.is_float()                  ? "floats"
                                                           : format.texel == TexelClass::sint ? "ints"
                                                                                              : "uints"));
    }
    if (writable && !shape.writable) {
        throw ArgumentError(ErrorCode::type_mismatch,
                            "expected a texture that is writable, found one that calls only read");
    }
}

void check_sampler(const AnyTexture& texture) {
    if (texture && !texture.sampler()) {
        throw ArgumentError(ErrorCode::missing_argument,
                            "expected a texture with a sampler, found one without; see with_sampler()");
    }
}

}  // namespace kf::detail
