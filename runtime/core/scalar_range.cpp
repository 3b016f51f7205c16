// The values that scalar types hold, in words.
#include "core/scalar_range.h"

#include <cstdint>

namespace kf::detail {

std::string range_text(ScalarType scalar) {
    if (is_floating(scalar)) {
        const char* most = scalar == ScalarType::float16   ? "65504"
                           : scalar == ScalarType::float32 ? "3.4028235e+38"
                                                           : "1.7976931348623157e+308";
        return std::string("-") + most + " to " + most;
    }
    const bool is_unsigned = scalar == ScalarType::uint8 || scalar == ScalarType::uint16 ||
                             scalar == ScalarType::uint32 || scalar == ScalarType::uint64;
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * size_of(scalar));
    if (is_unsigned) return "0 to " + std::to_string(all);
    const std::uint64_t most = all >> 1U;
    return "-" + std::to_string(most + 1) + " to " + std::to_string(most);
}

}  // namespace kf::detail
