// Names that Python has taken.
#include "spec/python_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

using testing::ElementsAre;

TEST(PythonModules, PackagesCanBeImported) {
    for (const char* good : {"kernels", "my.kernels", "a.random", "_x.y2", "match", "classes"})
        EXPECT_EQ(package_name_error(good), std::nullopt) << good;
    const std::string form =
        ": a package's name has letters, digits and _, doesn't begin with a digit and is no keyword";
    EXPECT_EQ(package_name_error("my.class"), "Python can't import 'class'" + form);
    EXPECT_EQ(package_name_error("None"), "Python can't import 'None'" + form);
    EXPECT_EQ(package_name_error("2d"), "Python can't import '2d'" + form);
    EXPECT_EQ(package_name_error("a..b"), "Python can't import ''" + form);
    EXPECT_EQ(package_name_error(""), "Python can't import ''" + form);
    EXPECT_EQ(package_name_error("random.kernels"),
              "it would hide Python's own module 'random', or be hidden by it; give it another name");
    EXPECT_EQ(package_name_error("numpy"),
              "it would hide the package 'numpy', which generated modules need, or be "
              "hidden by it; give it another name");
}

TEST(PythonModules, HideNoOthers) {
    Spec spec;
    spec.name_location = {"m.kf.json", 3, 11};
    for (const char* good : {"lights", "randoms", "Random"}) {
        spec.name = good;
        EXPECT_THAT(check_module_name(spec), ElementsAre()) << good;
    }
    for (const char* bad : {"abc", "random", "types", "zoneinfo", "numpy", "torch"}) {
        spec.name = bad;
        EXPECT_EQ(check_module_name(spec).size(), 1U) << bad;
    }
    spec.name = "random";
    EXPECT_EQ(
        format_text(check_module_name(spec).front()),
        "m.kf.json:3:11: error: random.py would hide Python's own module 'random' from every program that "
        "finds it first [spec-name]\n"
        "    note: set \"name\" to another word, or name the package that random.py will be part of: "
        "--python-package PACKAGE");
}

}  // namespace
}  // namespace kf::gen
