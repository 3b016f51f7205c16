// Names that kernels import.
#include <gmock/gmock.h>

#include "slang/compiler.h"

namespace kf::gen {
namespace {

TEST(ModuleNames, StemsAsIdentifiers) {
    EXPECT_THAT(module_names({"/a/polynomial.slang", "/a/my-mod.v2.slang", "/a/2d.slang"}),
                testing::ElementsAre("polynomial", "my_mod_v2", "_2d"));
}

TEST(ModuleNames, TakenNamesAreNumbered) {
    EXPECT_THAT(module_names({"/a/f.slang", "/b/f.slang", "/c/f.slang"}),
                testing::ElementsAre("f", "f_2", "f_3"));
}

TEST(Types, CompareDeeply) {
    Type inner;
    inner.kind = TypeKind::scalar;
    Type one;
    one.kind = TypeKind::structure;
    one.fields.push_back({"a", inner, false});
    Type two = one;
    EXPECT_EQ(one, two);
    two.fields[0].type.scalar = ScalarType::int8;
    EXPECT_FALSE(one == two);
}

}  // namespace
}  // namespace kf::gen
