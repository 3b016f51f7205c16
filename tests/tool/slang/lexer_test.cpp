// Where comments, literals and directives end.
#include "slang/lexer.h"

#include <gmock/gmock.h>

#include <string>

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Each lexeme's kind as a letter, and its text; those that start a line have a '^' before them.
std::vector<std::string> lexed(std::string_view text) {
    std::vector<std::string> lexemes;
    for (const Lexeme& lexeme : lex(text)) {
        const char kind = "wslcd"[static_cast<std::size_t>(lexeme.kind)];
        lexemes.push_back((lexeme.starts_line ? "^" : "") + std::string(1, kind) + ":" +
                          std::string(text.substr(lexeme.begin, lexeme.end - lexeme.begin)));
    }
    return lexemes;
}

TEST(Lexer, TellsPiecesApart) {
    EXPECT_THAT(lexed(""), IsEmpty());
    EXPECT_THAT(lexed(" \n\t\r\n"), IsEmpty());
    EXPECT_THAT(lexed("float3 a_1=2.5f;\n}"),
                ElementsAre("^w:float3", "w:a_1", "s:=", "w:2", "s:.", "w:5f", "s:;", "^s:}"));
    EXPECT_THAT(lexed(R"("a\"b" 'c' "//")"), ElementsAre(R"(^l:"a\"b")", "l:'c'", R"(l:"//")"));
}

TEST(Lexer, CommentsEndWhereTheyClose) {
    EXPECT_THAT(lexed("a// b\nc"), ElementsAre("^w:a", "c:// b", "^w:c"));
    EXPECT_THAT(lexed("a /* \" \n // */ b"), ElementsAre("^w:a", "c:/* \" \n // */", "w:b"));
    EXPECT_THAT(lexed("// goes \\\non\nb"), ElementsAre("^c:// goes \\\non", "^w:b"));
    EXPECT_THAT(lexed("// goes \\\r\non\r\nb"), ElementsAre("^c:// goes \\\r\non\r", "^w:b"));
    EXPECT_THAT(lexed("/* open"), ElementsAre("^c:/* open"));
    EXPECT_THAT(lexed("/*/ x */ y"), ElementsAre("^c:/*/ x */", "w:y"));
}

TEST(Lexer, DirectivesGoOnOverLines) {
    EXPECT_THAT(lexed("#define A b\nc"), ElementsAre("^d:#define A b", "^w:c"));
    EXPECT_THAT(lexed(" # define A \\\n b\nc"), ElementsAre("^d:# define A \\\n b", "^w:c"));
    EXPECT_THAT(lexed("#define A \\\r\n b\r\nc"), ElementsAre("^d:#define A \\\r\n b\r", "^w:c"));
    EXPECT_THAT(lexed("#if A /* x\n y */ && B\nc"), ElementsAre("^d:#if A /* x\n y */ && B", "^w:c"));
    EXPECT_THAT(lexed("#if A // /*\nc"), ElementsAre("^d:#if A // /*", "^w:c"));
    EXPECT_THAT(lexed("/* x */ #if A\nc"), ElementsAre("^c:/* x */", "d:#if A", "^w:c"));
    EXPECT_THAT(lexed("a # b"), ElementsAre("^w:a", "s:#", "w:b"));
    EXPECT_THAT(lexed("#"), ElementsAre("^d:#"));
}

TEST(Lexer, OpenLiteralsEndWithTheirLine) {
    EXPECT_THAT(lexed("don't\nb"), ElementsAre("^w:don", "l:'t", "^w:b"));
    EXPECT_THAT(lexed("\"a"), ElementsAre("^l:\"a"));
    EXPECT_THAT(lexed("\"a\\"), ElementsAre("^l:\"a\\"));
}

}  // namespace
}  // namespace kf::gen
