// Which texts get an import of kf_views.
#include "slang/view_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

TEST(ViewTypes, AreImportedBehindAllElse) {
    for (const std::string text :
         {"void f(TensorView<float> a) {}", "module m;\nvoid f(DiffTensorView a) {} // last",
          "TorchTensor<float> f();\n", "#define VIEW TensorView<float>\nvoid f(VIEW a) {}\n",
          "namespace n { void f(TensorView<float> a) {} }"})
        EXPECT_EQ(with_view_types(text), text + "\nimport kf_views;\n");
}

TEST(ViewTypes, OtherTextsStay) {
    for (const std::string text :
         {"float f(Tensor<float, 1> t) { return t[0]; }", "// TensorView\nvoid f() {}",
          "void f(MyTensorViews v) {}", "struct TensorView<T> { T x; }\nvoid f(TensorView<float> a) {}",
          "typealias TensorView = Other;\nvoid f(TensorView a) {}",
          "import kf_views;\nvoid f(TensorView<float> a) {}"})
        EXPECT_EQ(with_view_types(text), text);
}

TEST(ViewTypes, SupportModulesForThemAreSeldomNeeded) {
    EXPECT_FALSE(name_foreign_types({{"a.slang", "import kf;\n"}, {"b.slang", "float f();"}}));
    EXPECT_TRUE(name_foreign_types({{"a.slang", "float f();"}, {"b.slang", "import slangpy;\n"}}));
    EXPECT_TRUE(name_foreign_types({{"a.slang", "void f(TensorView<float> t);"}}));
    EXPECT_TRUE(has_foreign_names("kf_views"));
    EXPECT_FALSE(has_foreign_names("kf"));
}

}  // namespace
}  // namespace kf::gen
