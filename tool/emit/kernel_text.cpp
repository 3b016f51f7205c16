// Writes words that kernels are made of.
#include "emit/kernel_text.h"

#include <cctype>

#include "plan/types.h"

namespace kf::gen {

std::string identifier(const std::string& name) {
    std::string text;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
            text += c;
        } else if (text.back() != '_') {
            text += '_';
        }
    }
    return text;
}

std::string differential_name(const Type& type) {
    if (type.kind == TypeKind::array) {
        return "Array<" + differential_name(type.element.front()) + ", " + std::to_string(type.extent) + ">";
    }
    return type.kind == TypeKind::structure ? type.name + ".Differential" : declared_name(type);
}

std::string narrowed(const std::string& value, manifest::Scalar scalar, const std::string& type) {
    using manifest::Scalar;
    switch (scalar) {
        case Scalar::boolean: return value + " != 0";
        case Scalar::int8:
        case Scalar::int16:
        case Scalar::uint8:
        case Scalar::uint16:
        case Scalar::float16: return type + "(" + value + ")";
        default: return value;
    }
}

}  // namespace kf::gen
