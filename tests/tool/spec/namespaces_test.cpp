// Namespaces that C++ headers can't have.
#include "spec/namespaces.h"

#include <gtest/gtest.h>

#include "spec/cpp_macros.h"

namespace kf::gen {
namespace {

Diagnostics namespace_errors(const char* name) {
    Spec spec;
    spec.namespace_name = name;
    spec.namespace_location = {"a.kf.json", 3, 7};
    return check_namespace(spec);
}

TEST(Namespaces, AreRefusedWhereTheyCannotCompile) {
    for (const char* name :
         {"kf", "app::std", "exp", "main", "app::class", "INT_MAX", "linux", "app::__x", "a::"}) {
        const Diagnostics errors = namespace_errors(name);
        ASSERT_EQ(errors.size(), 1U) << name;
        EXPECT_EQ(errors.front().id, "reserved-namespace") << name;
        EXPECT_EQ(errors.front().location.line, 3) << name;
    }
}

TEST(Namespaces, AreTakenWhereTheyCan) {
    for (const char* name : {"polynomial", "app::exp", "app::main", "a::b::c", "_private"})
        EXPECT_TRUE(namespace_errors(name).empty()) << name;
}

TEST(CppMacros, AreKnownByNameAndByFamily) {
    for (const char* name : {"INT_MAX", "PATH_MAX", "EOF", "errno", "major", "UINT64_C", "SYS_read", "BUFSIZ",
                             "linux", "stdin", "offsetof", "CHAR_BIT", "ERANGE"})
        EXPECT_TRUE(is_cpp_macro(name)) << name;
    for (const char* name : {"MAX", "T_MAX", "errnos", "maj", "EO", "INTERVAL", "", "X"})
        EXPECT_FALSE(is_cpp_macro(name)) << name;
}

TEST(CppMacros, TellsNamesThatCompilersKeep) {
    EXPECT_TRUE(is_kept_by_cpp("__linux__"));
    EXPECT_TRUE(is_kept_by_cpp("_Exit"));
    EXPECT_FALSE(is_kept_by_cpp("_exit"));
    EXPECT_FALSE(is_kept_by_cpp("my__name"));
}

}  // namespace
}  // namespace kf::gen
