// Textures that a call writes to, and what else it has of them.
#include "core/bind_error.h"
#include "core/bind_parts.h"
#include "core/kinds/binding.h"

namespace kf::detail {
namespace {

struct TextureUse {
    const TextureState* state = nullptr;
    driver::ImageRange range;
    bool is_written = false;
};

/// What a call has of a texture; of arguments that are none, nothing.
TextureUse use_of(const BindRequest& request, std::size_t i) {
    const AnyTexture* given = request.arguments[i].texture;
    const std::optional<TextureRules> rules = texture_rules(request.call.arguments[i]);
    if (given == nullptr || !rules) return {};
    return {given->state().get(), rules->range(*given->state()), rules->is_written};
}

bool collide(const TextureUse& a, const TextureUse& b) {
    return (a.is_written || b.is_written) && share_texels(*a.state->image, a.range, *b.state->image, b.range);
}

}  // namespace

void check_textures_apart(const BindRequest& request) {
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        if (request.arguments[i].texture == nullptr) continue;
        const TextureUse use = use_of(request, i);
        for (std::size_t j = 0; j < i && use.state != nullptr; ++j) {
            if (request.arguments[j].texture == nullptr) continue;
            const TextureUse other = use_of(request, j);
            if (other.state == nullptr || !collide(use, other)) continue;
            const std::size_t written = use.is_written ? i : j;
            fail(request, written, ErrorCode::aliasing,
                 "the call writes to it, and has texels of it as argument '" +
                     host_name(request.call, written == i ? j : i) +
                     "', too: give another texture, or other mips or layers of it");
        }
    }
}

}  // namespace kf::detail
