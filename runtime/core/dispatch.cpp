// What both drivers check of a dispatch before they run it.
#include "core/dispatch.h"

#include <kf/error.h>

namespace kf::driver {

void fail_grid(const Info& info, const std::string& kernel, const Grid& groups) {
    std::size_t d = 0;
    while (groups.at(d) <= info.max_groups.at(d)) {
        ++d;
    }
    throw ArgumentError(ErrorCode::value_range, info.backend + ": kernel '" + kernel + "' is given " +
                                                    std::to_string(groups.at(d)) + " groups in " +
                                                    std::string("xyz").substr(d, 1) + "; at most " +
                                                    std::to_string(info.max_groups.at(d)) + " fit");
}

std::string to_string(const Grid& groups) {
    std::string text = std::to_string(groups[0]);
    if (groups[1] != 1 || groups[2] != 1) {
        text += " x " + std::to_string(groups[1]) + " x " + std::to_string(groups[2]);
    }
    return text;
}

}  // namespace kf::driver
