// printf(), assert() and indices in users' texts.
#include "slang/debug_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace kf::gen;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const DebugUse off{};
const DebugUse printing{true, false};
const DebugUse checking{false, true};

/// The only error of the text, as "line:column: id: message".
std::string error_of(const std::string& text, const DebugUse& use = printing) {
    const DebugCalls calls = read_debug_calls(text, "/folder/a.slang", use);
    if (calls.errors.size() != 1) return std::to_string(calls.errors.size()) + " errors";
    const Diagnostic& error = calls.errors.front();
    return std::to_string(error.location.line) + ":" + std::to_string(error.location.column) + ": " +
           error.id + ": " + error.message;
}

TEST(DebugCalls, LeaveTextsWithoutThemAsTheyAre) {
    const std::string text = "float f(float x) { return x; } // printf\n";
    EXPECT_EQ(with_debug_calls(text, "a.slang", off), text);
    EXPECT_EQ(with_debug_calls(text, "a.slang", printing), text);
}

TEST(DebugCalls, AreBlankWhereNothingIsPrinted) {
    EXPECT_EQ(with_debug_calls("{ printf(\"%d\",\n  x); y; assert(x > 0); }", "a.slang", off),
              "{             \n      y;                }");
    // Where a statement is needed, there is one.
    const std::string text = with_debug_calls("if (x)\n    printf(\"%d\", x);\nelse y;", "a.slang", off);
    EXPECT_THAT(text, HasSubstr("kf_nop"));
    EXPECT_THAT(text, HasSubstr("import kf_reports;"));
    EXPECT_THAT(text, Not(HasSubstr("%d")));
}

TEST(DebugCalls, NameMessagesByPlaceAndText) {
    const std::string text =
        "void f(int x)\n{\n    printf(\"%d\\t\" \"%5.2f\", x, g<a, b>(1.5));\n    assert(x >\n 0);\n"
        "    assert(x, \"why\");\n}\n";
    const DebugCalls calls = read_debug_calls(text, "/folder/a.slang", printing);
    EXPECT_THAT(calls.errors, IsEmpty());
    ASSERT_EQ(calls.messages.size(), 3U);
    EXPECT_EQ(calls.messages[0].text, "%d\t%5.2f");
    EXPECT_EQ(calls.messages[0].place, "a.slang:3");
    EXPECT_EQ(calls.messages[1].text, "assertion 'x > 0'");
    EXPECT_EQ(calls.messages[2].text, "assertion 'x' (why)");
    // Wherever the file lies.
    EXPECT_EQ(read_debug_calls(text, "/other/a.slang", printing).messages, calls.messages);
    const std::string made = with_debug_calls(text, "/folder/a.slang", printing);
    for (const kf::manifest::Message& message : calls.messages)
        EXPECT_THAT(made, HasSubstr(std::to_string(message.number) + "u"));
    EXPECT_THAT(made, HasSubstr("kf_print_integer("));
    EXPECT_THAT(made, HasSubstr("kf_print_float("));
}

TEST(DebugCalls, AreFoundInMacros) {
    const std::string text = "#define LOG(x) printf(\"%d\", x); \\\n    assert(x)\nvoid f() { LOG(1); }\n";
    const std::string made = with_debug_calls(text, "a.slang", printing);
    EXPECT_THAT(made, HasSubstr("kf_print("));
    EXPECT_THAT(made, HasSubstr("kf_assert(x, "));
    EXPECT_THAT(made, Not(HasSubstr("#line")));
    EXPECT_THAT(with_debug_calls(text, "a.slang", off), HasSubstr("#define LOG(x) kf_nop("));
}

TEST(DebugCalls, OfTheUsersOwnStay) {
    const auto own = own_debug_functions({{"a", "void printf(int x) {}\n"}, {"b", "#define assert(x)\n"}});
    EXPECT_THAT(own, ElementsAre("assert", "printf"));
    const std::string text = "void f() { printf(1); assert(2); }";
    EXPECT_EQ(with_debug_calls(text, "a.slang", {true, false, own}), text);
    EXPECT_THAT(own_debug_functions(
                    {{"a", "void f() { if (x) return; else printf(\"\"); do assert(x); while (x); }"}}),
                IsEmpty());
}

TEST(DebugCalls, RefuseWrongFormats) {
    EXPECT_EQ(error_of("void f() {\n  printf(\"%d and %s\", 1, 2); }"),
              "2:18: printf-format: printf: there is no conversion '%s'");
    EXPECT_EQ(error_of("printf(\"%\");"), "1:9: printf-format: printf: there is no conversion '%'");
    EXPECT_EQ(error_of("printf(\"%*d\", 1, 2);"), "1:9: printf-format: printf: there is no conversion '%*'");
    EXPECT_EQ(error_of("printf(\"%v5f\", x);"), "1:9: printf-format: printf: there is no conversion '%v5f'");
    EXPECT_EQ(error_of(" printf(format, x);"),
              "1:9: printf-format: printf: the format is not a string literal");
    EXPECT_EQ(error_of(" printf(\"%d\");"),
              "1:2: printf-format: printf: the format has 1 conversion, and 0 values follow");
    EXPECT_EQ(error_of(" printf(\"%%\", (1, 2));"),
              "1:2: printf-format: printf: the format has 0 conversions, and 1 value follows");
    EXPECT_EQ(error_of("printf(\"%d%d%d%d%d%d%d%d%d%d%d%d%d\", 1,2,3,4,5,6,7,8,9,10,11,12,13);"),
              "1:1: printf-format: printf: 13 values; at most 12 fit");
    EXPECT_EQ(error_of("assert();"),
              "1:1: assert-arguments: assert: a condition is needed, and perhaps a string literal");
    EXPECT_EQ(error_of("assert(a, b);"),
              "1:1: assert-arguments: assert: a condition is needed, and perhaps a string literal");
}

TEST(DebugCalls, SayWhereTensorsAreIndexed) {
    const std::string text =
        "void f(Tensor<float, 2> x, RWTensor<float3, 1> y, float z[3], int i)\n{\n"
        "    y.store(i, x[i, i + 1]);\n    z[i] = x.load(i, 0);\n}\n";
    const DebugCalls calls = read_debug_calls(text, "a.slang", checking);
    EXPECT_THAT(calls.errors, IsEmpty());
    ASSERT_EQ(calls.messages.size(), 3U);
    EXPECT_EQ(calls.messages[0].text, "y");
    EXPECT_EQ(calls.messages[0].place, "a.slang:3");
    EXPECT_EQ(calls.messages[1].text, "x");
    EXPECT_EQ(calls.messages[2].place, "a.slang:4");
    const std::string made = with_debug_calls(text, "a.slang", checking);
    EXPECT_THAT(made, HasSubstr("kf_at("));
    EXPECT_THAT(made, HasSubstr("z[i] ="));
    EXPECT_EQ(with_debug_calls(text, "a.slang", off), text);
    const std::string buffers =
        "void f(RWStructuredBuffer<float> b, ByteAddressBuffer q, Texture2D<float> t, Texture2D u[2], int i) "
        "{\n"
        "b[i] = q.Load(4 * i) + t.Load({i, i, 0}) + u[i][0]; }";
    const std::string marked = with_debug_calls(buffers, "a.slang", checking);
    EXPECT_EQ(read_debug_calls(buffers, "a.slang", checking).messages.size(), 2U);
    EXPECT_THAT(marked, HasSubstr("kf_site("));
    EXPECT_THAT(marked, HasSubstr("t.Load({i, i, 0})"));
    EXPECT_THAT(marked, HasSubstr("u[i][0]"));
    const std::string array = "float f(Tensor<float, 1> x[3], int i) { return x[i][0]; }";
    EXPECT_THAT(with_debug_calls(array, "a.slang", checking), HasSubstr("x[3]"));
    EXPECT_EQ(error_of("void f(TensorView<float> x) {\n  float* p = x.data_ptr(); }", checking),
              "2:16: checked-argument: what 'data_ptr' gives is a pointer, whose indices can't be checked");
}

}  // namespace
