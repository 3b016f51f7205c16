// Comparison of Slang types, which hold each other.
#include "slang/module.h"

#include <tuple>

namespace kf::gen {

// Spelled out: clang 14 crashes on a defaulted one here.
bool Type::operator==(const Type& other) const {
    const auto members = [](const Type& type) {
        return std::tie(type.kind, type.scalar, type.rows, type.columns, type.extent, type.element,
                        type.fields, type.name, type.differentiable);
    };
    return members(*this) == members(other);
}

}  // namespace kf::gen
