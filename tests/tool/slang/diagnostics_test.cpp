// Slang's machine-readable lines become our diagnostics.
#include "slang/diagnostics.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SlangDiagnostics, FirstSpanIsTheMessage) {
    const Diagnostics errors = parse_slang_diagnostics(
        "E30027\terror\t/a/b.slang\t3\t15\t3\t18\tmember not found\n"
        "E30027\tspan\t/a/b.slang\t3\t15\t3\t18\t'foo' is not a member of 'float'.\n");
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(
        errors[0],
        (Diagnostic{
            Severity::error, "slang-E30027", {"/a/b.slang", 3, 15}, "'foo' is not a member of 'float'", {}}));
}

TEST(SlangDiagnostics, MoreSpansAndNotesAreNotes) {
    const Diagnostics errors = parse_slang_diagnostics(
        "E1\terror\ta\t3\t15\t3\t18\ttitle\n"
        "E1\tspan\ta\t3\t15\t3\t18\tmessage\n"
        "E1\tspan\tb\t4\t2\t4\t5\tdeclared here\n"
        "E2\tnote\tc\t5\t6\t5\t7\tcandidate\n"
        "E2\tspan\tc\t5\t6\t5\t7\tfloat f(int)\n");
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].message, "message");
    EXPECT_THAT(errors[0].notes,
                ElementsAre("b:4:2: declared here", "c:5:6: candidate", "c:5:6: float f(int)"));
}

TEST(SlangDiagnostics, AFunctionNamedAsSlangsOwnHasACure) {
    const std::string ambiguous =
        "E39999\terror\tk\t3\t15\t3\t18\tambiguous\n"
        "E39999\tspan\tk\t3\t15\t3\t18\tambiguous call to overloaded operation\n";
    const std::string own = "E39999\tnote\ta.slang\t5\t6\t5\t7\tcandidate: func lerp\n";
    const std::string slangs = "E39999\tnote\thlsl.meta.slang\t5\t6\t5\t7\tcandidate: func lerp\n";
    const Diagnostics cured = parse_slang_diagnostics(ambiguous + own + slangs);
    ASSERT_EQ(cured.size(), 1U);
    ASSERT_EQ(cured[0].notes.size(), 3U);
    EXPECT_THAT(cured[0].notes.back(), testing::HasSubstr("[OverloadRank(1)]"));
    EXPECT_EQ(parse_slang_diagnostics(ambiguous + own + own).at(0).notes.size(), 2U);
}

TEST(SlangDiagnostics, ATensorThatConstrainsHasACure) {
    const auto notes = [](const std::string& type) {
        return parse_slang_diagnostics(
                   "E30401\terror\tk\t3\t15\t3\t18\tinvalid constraint\n"
                   "E30401\tspan\tk\t3\t15\t3\t18\ttype '" +
                   type + "' cannot be used as a constraint\n")
            .at(0)
            .notes;
    };
    EXPECT_THAT(notes("RWDiffTensor<float, 1>"), ElementsAre(HasSubstr("tensor types are structs")));
    EXPECT_THAT(notes("Tensor<float, N>"), ElementsAre(HasSubstr("'IDiffTensor<E, 1> t'")));
    EXPECT_THAT(notes("Ray"), ElementsAre());
    EXPECT_THAT(notes("Tensors<float>"), ElementsAre());
}

TEST(SlangDiagnostics, WarningsAndErrorsAreTwoThings) {
    const std::string warning =
        "E30081\twarning\ta\t1\t2\t1\t3\tconversion\n"
        "E30081\tspan\ta\t1\t2\t1\t3\tfrom bool.\n"
        "E30082\tnote\tb\t4\t5\t4\t6\tsee here\n";
    const std::string error = "E30015\terror\ta\t4\t12\t4\t27\tundefined identifier\n";
    EXPECT_TRUE(parse_slang_diagnostics(warning).empty());
    EXPECT_TRUE(parse_slang_warnings(error).empty());
    const Diagnostic expected{
        Severity::warning, "slang-E30081", {"a", 1, 2}, "from bool", {"b:4:5: see here"}};
    for (const std::string& text : {warning, warning + error, error + warning, warning + warning}) {
        EXPECT_EQ(parse_slang_warnings(text), Diagnostics{expected});
    }
    ASSERT_EQ(parse_slang_diagnostics(warning + error + warning).size(), 1U);
    EXPECT_TRUE(parse_slang_diagnostics(warning + error + warning)[0].notes.empty());
}

TEST(SlangDiagnostics, WarningsOfOnePlaceMayDiffer) {
    const std::string title = "E41020\twarning\ta\t1\t2\t1\t3\texiting constructor\n";
    const std::string span = "E41020\tspan\ta\t1\t2\t1\t3\t";
    const Diagnostics warnings =
        parse_slang_warnings(title + span + "field 'x'\n" + title + span + "field 'y'\n");
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_EQ(warnings[1].message, "field 'y'");
}

TEST(SlangDiagnostics, WarningsForPeopleAreWarningsToo) {
    const std::string text =
        "warning[E39019]: implicit global shader parameter\n --> /a b/m.slang:3:7\n  |\n3 | float gain = a ^ "
        "3;\n"
        "  |       ^^^^ 'gain' is a parameter. Add 'static'.\n\n"
        "warning[E5]: title\n --> n.slang:1:2\n  |\n1 | x\n  | ^\n\n";
    const Diagnostics warnings = parse_slang_warnings(text);
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_EQ(warnings[0], (Diagnostic{Severity::warning,
                                       "slang-E39019",
                                       {"/a b/m.slang", 3, 7},
                                       "'gain' is a parameter. Add 'static'",
                                       {}}));
    EXPECT_EQ(warnings[1], (Diagnostic{Severity::warning, "slang-E5", {"n.slang", 1, 2}, "title", {}}));
    EXPECT_TRUE(parse_slang_diagnostics(text).empty());
}

TEST(SlangDiagnostics, NotesNeedNoNumber) {
    const Diagnostics errors = parse_slang_diagnostics(
        "E36107\terror\tk\t1\t2\t1\t3\tunavailable\nE\tnote\tm\t4\t5\t4\t6\tsee using of "
        "'f'\nE\tspan\tm\t4\t5\t4\t6\t\n");
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_THAT(errors[0].notes, ElementsAre("m:4:5: see using of 'f'"));
}

TEST(SlangDiagnostics, ClosingRemarksGoWhenThereIsMore) {
    const std::string closing =
        "E39999\terror\t\t0\t0\t0\t0\timport failed due to compilation error\n"
        "E40003\tfatal error\t\t0\t0\t0\t0\tcompilation ceased\n"
        "abort compilation: E40003\tfatal error\t\t0\t0\t0\t0\tcompilation ceased\n";
    const Diagnostics errors =
        parse_slang_diagnostics("E30015\terror\ta\t4\t12\t4\t27\tundefined identifier\n" + closing);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].id, "slang-E30015");
    EXPECT_EQ(parse_slang_diagnostics(closing).size(), 2U);
    EXPECT_EQ(parse_slang_diagnostics("E39999\terror\ta\t1\t1\t1\t1\tno overload\n" + closing).size(), 1U);
}

TEST(SlangDiagnostics, RepeatedErrorsComeOnce) {
    const std::string line = "E30015\terror\ta\t4\t12\t4\t27\tundefined identifier\n";
    EXPECT_EQ(parse_slang_diagnostics(line + line).size(), 1U);
}

TEST(SlangDiagnostics, OtherTextIsAnInternalError) {
    const Diagnostics errors = parse_slang_diagnostics(
        "assert failure: slang-dictionary.h(313): The key already exists in Dictionary.");
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].id, "slang-internal");
    EXPECT_THAT(errors[0].message, testing::HasSubstr("The key already exists"));
    EXPECT_EQ(parse_slang_diagnostics("E99999\terror\ta\t1\t1\t1\t1\tunhandled\n").at(0).id,
              "slang-internal");
}

TEST(SlangDiagnostics, NothingIsNoError) { EXPECT_TRUE(parse_slang_diagnostics("").empty()); }

}  // namespace
}  // namespace kf::gen
