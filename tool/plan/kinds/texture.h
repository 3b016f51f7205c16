// Planning textures: those that calls take whole, and those whose texels feed them.
#pragma once

#include <optional>
#include <string>

#include "plan/kind_target.h"
#include "plan/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Texture;

/// Answers feed() for this kind, and for a parameter that is a texture. Errors: "argument-type",
/// "argument-map", "type-not-supported", "texture-format".
Outcome<manifest::Argument> feed_texture(const KindSpec& kind, const KindTarget& target);

inline bool can_have_gradient(const Texture&) { return false; }
inline bool is_same_for_all_calls(const Texture& texture, const manifest::Argument&) {
    return !texture.per_pixel;
}
inline std::int64_t least_call_rank(const Texture&, const manifest::Argument& argument) {
    return argument.call_rank;
}
inline std::optional<Diagnostic> check_in_call(const Texture&, const PlannedArgument&, std::int64_t) {
    return {};
}
std::string gradient_refusal(const Texture& texture, const AccumulateWay& way);
/// Makes the argument a stand-in for the tangent that it doesn't have, as a field of a struct.
void become_tangent(const Texture& texture, PlannedArgument& argument);

}  // namespace kf::gen::kinds
