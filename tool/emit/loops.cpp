// Writes loops over the scalars of a matrix or an array.
#include "emit/loops.h"

#include "plan/types.h"

namespace kf::gen {

namespace {

std::string loop_variable(std::size_t dimension) { return "kf_i" + std::to_string(dimension); }

}  // namespace

std::string loop_over(const std::vector<std::int64_t>& extents, const std::string& statement) {
    // Unrolled code costs more than it saves past this many scalars.
    constexpr std::int64_t most_unrolled = 64;
    const std::string unroll = scalar_count(extents) <= most_unrolled ? "[ForceUnroll] " : "";
    std::string text;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const std::string variable = loop_variable(i);
        text += unroll + "for (int " + variable + " = 0; " + variable + " < " + std::to_string(extents[i]) +
                "; ++" + variable + ") ";
    }
    return text + statement;
}

std::string subscripted(const std::string& place, const std::vector<std::int64_t>& extents) {
    std::string text;
    std::size_t loops = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
        text += place[i];
        if (place[i] == '[' && place[i + 1] == ']') text += loop_variable(loops++);
    }
    for (; loops < extents.size(); ++loops) text += "[" + loop_variable(loops) + "]";
    return text;
}

std::string along(const std::vector<std::string>& strides) {
    std::string text;
    for (std::size_t i = 0; i < strides.size(); ++i) {
        text += " + " + (strides[i] == "1" ? loop_variable(i) : loop_variable(i) + " * " + strides[i]);
    }
    return text;
}

std::vector<std::string> dense_strides(const std::vector<std::int64_t>& extents) {
    std::vector<std::string> strides(extents.size());
    std::int64_t stride = 1;
    for (std::size_t i = strides.size(); i-- > 0;) {
        strides[i] = std::to_string(stride);
        stride *= extents[i];
    }
    return strides;
}

std::string times(const std::string& index, std::int64_t count) {
    if (count == 1 || index == "0") return index;
    return index + " * " + std::to_string(count);
}

}  // namespace kf::gen
