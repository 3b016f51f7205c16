// Element types in Slang's spelling.
#include <kf/types.h>

namespace kf {

std::string to_string(ScalarType scalar) {
    constexpr std::array names{"bool",     "int8_t", "int16_t",  "int",  "int64_t", "uint8_t",
                               "uint16_t", "uint",   "uint64_t", "half", "float",   "double"};
    return names.at(static_cast<std::size_t>(scalar));
}

std::string to_string(const ElementType& element) {
    std::string text = to_string(element.scalar);
    for (std::size_t i = 0; i < element.rank; ++i) {
        text += i == 0 ? "" : "x";
        text += std::to_string(element.extents[i]);
    }
    return text;
}

}  // namespace kf
