// What passes are called in messages, labels and profiles.
#pragma once

#include <kf/pass_kind.h>

#include <string>
#include <string_view>

namespace kf::detail {

[[nodiscard]] constexpr const char* to_string(PassKind pass) {
    switch (pass) {
        case PassKind::forward: return "forward";
        case PassKind::backward: return "backward";
        case PassKind::fused: return "fused";
    }
    return "";
}

/// "shade", "shade.backward": the forward pass goes without saying.
[[nodiscard]] inline std::string pass_of(const std::string& function, std::string_view pass) {
    return pass == to_string(PassKind::forward) ? function : function + "." + std::string(pass);
}

}  // namespace kf::detail
