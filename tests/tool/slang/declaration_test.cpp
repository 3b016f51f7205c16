// Comments and attributes found in source text.
#include "slang/declaration.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Where the first "NAME" in the text is.
std::pair<std::int64_t, std::int64_t> place_of_name(const std::string& text) {
    const std::size_t at = text.find("NAME");
    std::int64_t line = 1;
    std::int64_t column = 1;
    for (std::size_t index = 0; index < at; ++index) {
        ++column;
        if (text[index] == '\n') {
            ++line;
            column = 1;
        }
    }
    return {line, column};
}

DeclarationText declaration(const std::string& text) {
    const auto [line, column] = place_of_name(text);
    return SourceText(text).declaration_at(line, column);
}

std::string extended(const std::string& text) {
    const auto [line, column] = place_of_name(text);
    return SourceText(text).type_around(line, column, "extension");
}

TEST(Declaration, ExtendedTypes) {
    EXPECT_EQ(extended("extension Ray { float NAME(); }"), "Ray");
    EXPECT_EQ(
        extended("int x;\nextension ns::Ray : IShape, IOther\n{\n  int f() { return 1; }\n  float NAME(); }"),
        "ns::Ray");
    EXPECT_EQ(extended("[A] /* extension No { */ extension Ray /* } */ { float f() { { } } float NAME(); }"),
              "Ray");
    EXPECT_EQ(extended("extension<T : IFloat, let N : int> Box<T, N> : IShape { float NAME(); }"),
              "Box<T,N>");
    EXPECT_EQ(extended("extension Box<vector<float, 2>> where T : IFloat { float NAME(); }"),
              "Box<vector<float,2>>");
    EXPECT_EQ(extended("struct Ray { float NAME(); }"), "");
    EXPECT_EQ(extended("extension Ray { float f(); }\nfloat NAME();"), "");
    EXPECT_EQ(extended("float NAME();"), "");
    EXPECT_EQ(SourceText("public interface ns::IShape : IOther { int f(); }").type_around(1, 44, "interface"),
              "ns::IShape");
    EXPECT_EQ(SourceText("struct S { int f(); }").type_around(1, 16, "interface"), "");
    EXPECT_EQ(SourceText("float f();").type_around(7, 1, "extension"), "");
}

TEST(Declaration, BodiesAreTold) {
    const SourceText text("interface I\n{\nint f();\nint g(int x)\n{ return x; }\nint h() // why\n;\n}");
    EXPECT_FALSE(text.has_body(3, 5));
    EXPECT_TRUE(text.has_body(4, 5));
    EXPECT_FALSE(text.has_body(6, 5));
    EXPECT_FALSE(text.has_body(9, 1));
}

TEST(Declaration, TripleSlashComment) {
    EXPECT_EQ(declaration("/// Adds.\n///   Two lines.\nfloat NAME(float a);").doc, "Adds.\n  Two lines.");
}

TEST(Declaration, PlainComment) { EXPECT_EQ(declaration("//Adds.\n  float NAME();").doc, "Adds."); }

TEST(Declaration, BlockComments) {
    EXPECT_EQ(declaration("/** Adds. */\nfloat NAME();").doc, "Adds.");
    EXPECT_EQ(declaration("/* Adds. */ float NAME();").doc, "Adds.");
    EXPECT_EQ(declaration("/**\n * One.\n *\n *   - two\n */\nfloat NAME();").doc, "One.\n\n  - two");
    EXPECT_EQ(declaration("/*!\n   One.\n   Two.\n*/\nfloat NAME();").doc, "One.\nTwo.");
}

TEST(Declaration, CommentAboveAttributes) {
    const auto found =
        declaration("// Adds.\n[Differentiable]\n[ForceInline, Custom(1, \"]\")]\nfloat NAME();");
    EXPECT_EQ(found.doc, "Adds.");
    EXPECT_THAT(found.attributes, ElementsAre("Differentiable", "ForceInline", "Custom(1,\"]\")"));
}

TEST(Declaration, CommentBetweenAttributesAndDeclaration) {
    EXPECT_EQ(declaration("[Differentiable]\n// Adds.\nfloat NAME();").doc, "Adds.");
}

TEST(Declaration, BlankLineSeparates) { EXPECT_EQ(declaration("// License.\n\nfloat NAME();").doc, ""); }

TEST(Declaration, OnlyTheRunDirectlyAbove) {
    EXPECT_EQ(declaration("// Section.\n\n// Adds.\nfloat NAME();").doc, "Adds.");
    EXPECT_EQ(declaration("/* Section. */\n// Adds.\nfloat NAME();").doc, "Adds.");
}

TEST(Declaration, CommentBehindOtherCodeIsNotTaken) {
    EXPECT_EQ(declaration("float other(); // about other\nfloat NAME();").doc, "");
    EXPECT_EQ(declaration("namespace n { // about n\nfloat NAME(); }").doc, "");
}

TEST(Declaration, StopsAtTheDeclarationBefore) {
    const auto found = declaration("// Other.\n[Other] float other() { return 1; }\nfloat NAME();");
    EXPECT_EQ(found.doc, "");
    EXPECT_THAT(found.attributes, IsEmpty());
}

TEST(Declaration, StopsAtPreprocessorLines) {
    EXPECT_EQ(declaration("// About A.\n#define A \\\n  1\nfloat NAME();").doc, "");
    EXPECT_EQ(declaration("#define A \\\n  1\n// Adds.\nfloat NAME();").doc, "Adds.");
}

TEST(Declaration, CarriageReturnsAndTabs) {
    EXPECT_EQ(declaration("\t/// Adds.\r\n\t/// More.\r\n\tfloat NAME();\r\n").doc, "Adds.\nMore.");
}

TEST(Declaration, CommentMarksInStringsAreText) {
    EXPECT_EQ(declaration("static const String s = \"// no\";\nfloat NAME();").doc, "");
}

TEST(Declaration, CommentsBehindAreThoseThatPointBack) {
    const auto behind = [](const std::string& text) { return SourceText(text).comment_behind(1, 7); };
    EXPECT_EQ(behind("float x; ///< How far. \nfloat y;"), "How far.");
    EXPECT_EQ(behind("float x = 1, y[2];  //!<About both"), "About both");
    EXPECT_EQ(behind("float x; // no\n"), "");
    EXPECT_EQ(behind("float x; /// of what follows\n"), "");
    EXPECT_EQ(behind("float x;\n///< of something else\n"), "");
    EXPECT_EQ(behind("float x; ///< How far\n         ///< it goes.\n/// Of y.\nfloat y;"),
              "How far\nit goes.");
    EXPECT_EQ(behind("float x; ///< How far.\n\n///< of nothing\n"), "How far.");
    EXPECT_EQ(behind("float x"), "");
    EXPECT_EQ(behind("float x;"), "");
    EXPECT_EQ(SourceText("float x;").comment_behind(3, 1), "");
}

TEST(Declaration, CommentsThatPointBackAreNotOfWhatFollows) {
    EXPECT_EQ(declaration("float x; ///< How far\n///< it goes.\nfloat NAME();").doc, "");
    EXPECT_EQ(declaration("float x; //!< How far\n//!< it goes.\n/// Adds.\nfloat NAME();").doc, "Adds.");
    EXPECT_EQ(declaration("float x;\n/**< How far. */\nfloat NAME();").doc, "");
    EXPECT_EQ(declaration("/// < 0 is clamped.\nfloat NAME();").doc, "< 0 is clamped.");
}

TEST(Declaration, WordsInFrontOfAParameter) {
    const auto marked = [](const std::string& text) {
        const auto [line, column] = place_of_name(text);
        return SourceText(text).is_marked(line, column, "no_diff");
    };
    EXPECT_TRUE(marked("void f(no_diff float NAME, float y) {}"));
    EXPECT_TRUE(marked("void f(int i,\n  no_diff Pair<int, Box<float, 2>> NAME)"));
    EXPECT_TRUE(marked("void f(in no_diff /* only ( read */ float NAME[3])"));
    EXPECT_FALSE(marked("void f(no_diff float x, float NAME)"));
    EXPECT_FALSE(marked("void f(no_diff float x, Pair<int, Box<float, 2>> NAME)"));
    EXPECT_FALSE(marked("no_diff float f(/* no_diff */ float NAME)"));
    EXPECT_FALSE(marked("float NAME"));
    EXPECT_FALSE(SourceText("float x;").is_marked(3, 1, "no_diff"));
}

TEST(Declaration, PlacesOutsideTheTextGiveNothing) {
    const SourceText source("float f();");
    EXPECT_EQ(source.declaration_at(0, 1).doc, "");
    EXPECT_EQ(source.declaration_at(9, 1).doc, "");
    EXPECT_EQ(source.declaration_at(1, 900).doc, "");
    EXPECT_EQ(SourceText("").declaration_at(1, 1).doc, "");
    EXPECT_EQ(SourceText("/* open").declaration_at(1, 9).doc, "");
}

}  // namespace
}  // namespace kf::gen
