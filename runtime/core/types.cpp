// Element types in Slang's spelling.
#include <kf/types.h>

#include <algorithm>
#include <span>

namespace kf {

std::string to_string(ScalarType scalar) {
    constexpr std::array names{"bool",     "int8_t", "int16_t",  "int",  "int64_t", "uint8_t",
                               "uint16_t", "uint",   "uint64_t", "half", "float",   "double"};
    return names.at(static_cast<std::size_t>(scalar));
}

std::string to_string(const ElementType& element) {
    if (element.struct_size != 0) {
        return "struct of " + std::to_string(element.struct_size) + " bytes";
    }
    const auto extents = std::span(element.extents).first(element.rank);
    const auto is_short = [](std::int64_t extent) { return extent >= 2 && extent <= 4; };
    const bool builtin = extents.size() <= 2 && std::all_of(extents.begin(), extents.end(), is_short);
    std::string text = to_string(element.scalar);
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const std::string extent = std::to_string(extents[i]);
        text += builtin ? (i == 0 ? "" : "x") + extent : "[" + extent + "]";
    }
    return text;
}

}  // namespace kf
