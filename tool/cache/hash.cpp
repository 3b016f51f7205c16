// One hash of several parts, for keys.
#include "cache/hash.h"

#include "core/sha256.h"

namespace kf::gen {

std::string hash_parts(const std::vector<std::string_view>& parts) {
    std::string text;
    for (const std::string_view part : parts) {
        text += std::to_string(part.size()) + ':';
        text += part;
    }
    return hex_digest(text);
}

}  // namespace kf::gen
