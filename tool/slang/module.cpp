// Comparison of Slang types, which hold each other.
#include "slang/module.h"

namespace kf::gen {

bool Type::operator==(const Type&) const = default;

}  // namespace kf::gen
