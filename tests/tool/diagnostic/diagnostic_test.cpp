// How a diagnostic is printed: as people read it, and as tools read it.
#include "diagnostic/diagnostic.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

Diagnostic sample() {
    return {Severity::error,
            "spec-unknown-key",
            {"a.kf.json", 3, 5},
            "unknown key 'cals'",
            {"did you mean 'calls'?"}};
}

TEST(FormatText, HasPlaceMessageIdAndNotes) {
    EXPECT_EQ(format_text(sample()),
              "a.kf.json:3:5: error: unknown key 'cals' [spec-unknown-key]\n    note: did you mean 'calls'?");
}

TEST(FormatText, LeavesOutWhatIsUnknown) {
    Diagnostic diagnostic = sample();
    diagnostic.notes.clear();
    diagnostic.location.column = 0;
    EXPECT_EQ(format_text(diagnostic), "a.kf.json:3: error: unknown key 'cals' [spec-unknown-key]");
    diagnostic.location.line = 0;
    EXPECT_EQ(format_text(diagnostic), "a.kf.json: error: unknown key 'cals' [spec-unknown-key]");
    diagnostic.location.file.clear();
    diagnostic.severity = Severity::warning;
    EXPECT_EQ(format_text(diagnostic), "kfgen: warning: unknown key 'cals' [spec-unknown-key]");
}

TEST(FormatJson, IsOneLineInAFixedOrder) {
    EXPECT_EQ(format_json(sample()),
              R"({"severity":"error","id":"spec-unknown-key","file":"a.kf.json","line":3,"column":5,)"
              R"("message":"unknown key 'cals'","notes":["did you mean 'calls'?"]})");
}

TEST(FormatJson, EscapesAndReplacesWhatIsNotUtf8) {
    const Diagnostic diagnostic{Severity::note, "x", {"a\"b", 0, 0}, "line\nbreak \xFF", {}};
    EXPECT_EQ(format_json(diagnostic),
              "{\"severity\":\"note\",\"id\":\"x\",\"file\":\"a\\\"b\",\"line\":0,\"column\":0,"
              "\"message\":\"line\\nbreak \xEF\xBF\xBD\",\"notes\":[]}");
}

TEST(FormatJson, CanBeReadAgain) {
    for (const Severity severity : {Severity::note, Severity::warning, Severity::error}) {
        Diagnostic diagnostic = sample();
        diagnostic.severity = severity;
        EXPECT_EQ(parse_json(format_json(diagnostic)), diagnostic);
    }
    for (const char* other :
         {"", "{", "[]", "{}", R"({"severity":"error"})",
          R"({"severity":"fine","id":"","file":"","line":0,"column":0,"message":"","notes":[]})",
          R"({"severity":"note","id":"","file":"","line":"","column":0,"message":"","notes":[]})"}) {
        EXPECT_EQ(parse_json(other), std::nullopt) << other;
    }
}

TEST(Outcome, CarriesWarningsEachOnce) {
    Diagnostic one = sample();
    one.severity = Severity::warning;
    Diagnostic other = one;
    other.location.line = 9;
    EXPECT_TRUE(Outcome<int>(3).warnings().empty());
    const auto value = Outcome<int>(3).with_warnings({one, other, one}).with_warnings({other});
    EXPECT_EQ(value.value(), 3);
    EXPECT_EQ(value.warnings(), (Diagnostics{one, other}));
    const auto error = Outcome<int>(sample()).with_warnings({one});
    EXPECT_FALSE(error);
    EXPECT_EQ(error.errors(), Diagnostics{sample()});
    EXPECT_EQ(error.warnings(), Diagnostics{one});
}

TEST(Outcome, HoldsAValueOrErrors) {
    const Outcome<int> value = 3;
    EXPECT_TRUE(value.ok());
    EXPECT_EQ(value.value(), 3);
    const Outcome<int> error = sample();
    EXPECT_FALSE(error);
    EXPECT_EQ(error.errors(), Diagnostics{sample()});
}

}  // namespace
}  // namespace kf::gen
