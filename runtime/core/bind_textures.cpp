// Textures that a call writes to, and what else it has of them.
#include "core/bind_error.h"
#include "core/bind_parts.h"
#include "core/kinds/binding.h"

namespace kf::detail {
namespace {

/// What is given for argument `i`; null where that is no texture.
const TextureState* texture_of(const BindRequest& request, std::size_t i) {
    const AnyTexture* given = request.arguments[i].texture;
    return given == nullptr ? nullptr : given->state().get();
}

/// Refuses the written texture `i` where argument `j` has texels of it.
void check_apart(const BindRequest& request, std::size_t i, const TextureRules& written, std::size_t j) {
    const TextureState& own = *texture_of(request, i);
    const TextureState& other = *texture_of(request, j);
    const TextureRules rules = texture_rules(request.call.arguments[j]).value();
    if (!share_texels(written.range(own), rules.range(other))) return;
    fail(request, i, ErrorCode::aliasing,
         "the call writes to it, and has texels of it as argument '" + host_name(request.call, j) +
             "', too: give another texture, or other mips or layers of it");
}

}  // namespace

void check_textures_apart(const BindRequest& request) {
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const TextureState* own = texture_of(request, i);
        if (own == nullptr || !writes_elements(request.call.arguments[i])) continue;
        const TextureRules written = texture_rules(request.call.arguments[i]).value();
        for (std::size_t j = 0; j < request.arguments.size(); ++j) {
            const TextureState* other = texture_of(request, j);
            if (j != i && other != nullptr && other->image == own->image) check_apart(request, i, written, j);
        }
    }
}

}  // namespace kf::detail
