// Searches for what a compiler crashes on, with compilers that crash on words.
#include "slang/crash_search.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

const std::string crashing =
    "module m;\n"
    "import lib;\n"
    "#define BAD 1\n"
    "struct S { float a; };\n"
    "[Differentiable]\n"
    "float f(float x[2]) { if (x[0] > 1) { return 1; } return bad; }\n"
    "#if BAD\n"
    "static const float table[2] = {1, 2}; float g() { return f(table); }\n"
    "#endif\n";

std::optional<Location> search(const std::string& word) {
    return find_crash(
        {{"/m.slang", crashing, {}, {"/lib.slang"}}, {"/lib.slang", "float lib() { return 0; }\n", {}, {}}},
        [&](const std::map<std::string, std::string>& texts) {
            EXPECT_NE(texts.at("/m.slang").find("module m;\n"), std::string::npos);
            EXPECT_NE(texts.at("/m.slang").find("#if BAD\n"), std::string::npos);
            return texts.at("/m.slang").find(word) != std::string::npos ||
                   texts.at("/lib.slang").find(word) != std::string::npos;
        });
}

TEST(CrashSearch, NamesTheDeclaration) {
    EXPECT_EQ(search("struct"), (Location{"/m.slang", 4, 1}));
    EXPECT_EQ(search("bad"), (Location{"/m.slang", 5, 1}));
    EXPECT_EQ(search("table"), (Location{"/m.slang", 8, 1}));
    EXPECT_EQ(search("f(table)"), (Location{"/m.slang", 8, 39}));
    EXPECT_EQ(search("lib()"), (Location{"/lib.slang", 1, 1}));
    EXPECT_EQ(search("import"), (Location{"/m.slang", 2, 1}));
}

TEST(CrashSearch, NamesNothingWhereTheTextsAreNotAtFault) {
    EXPECT_EQ(search("module"), std::nullopt);
    EXPECT_EQ(find_crash({}, [](const auto&) { return true; }), std::nullopt);
}

}  // namespace
}  // namespace kf::gen
