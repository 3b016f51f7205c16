// The strict renderer: what it fills, and every slip that it refuses.
#include "emit/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

std::string filled(const std::string& source, const View& view, const Partials& partials = {}) {
    const auto outcome = render("t.mustache", source, view, partials);
    return outcome ? outcome.value() : "error: " + outcome.errors().front().message;
}

std::vector<std::string> faults(const std::string& source, const View& view, const Partials& partials = {}) {
    const auto outcome = render("t.mustache", source, view, partials);
    std::vector<std::string> messages;
    if (outcome) return messages;
    for (const Diagnostic& error : outcome.errors()) {
        EXPECT_EQ(error.id, "internal-template");
        EXPECT_EQ(error.location.file, "t.mustache");
        messages.push_back(std::to_string(error.location.line) + ": " + error.message);
    }
    return messages;
}

TEST(Render, FillsHolesWithoutEscaping) {
    EXPECT_EQ(filled("{{a}} & {{{a}}} & {{&a}}", View::Object{{"a", "<&\"'>"}}), "<&\"'> & <&\"'> & <&\"'>");
}

TEST(Render, RepeatsSectionsForListsAndLooksOutwards) {
    const View view = View::Object{{"name", "f"},
                                   {"items", View::List{View::Object{{"x", "1"}}, View::Object{{"x", "2"}}}}};
    EXPECT_EQ(filled("{{#items}}{{name}}{{x}} {{/items}}{{^items}}none{{/items}}", view), "f1 f2 ");
}

TEST(Render, TakesItemsThatAreStrings) {
    EXPECT_EQ(filled("{{#a}}<{{.}}>{{/a}}", View::Object{{"a", View::List{"x", "y"}}}), "<x><y>");
}

TEST(Render, ChoosesByBooleansAndEmptyLists) {
    const std::string source = "{{#a}}yes{{/a}}{{^a}}no{{/a}}";
    EXPECT_EQ(filled(source, View::Object{{"a", true}}), "yes");
    EXPECT_EQ(filled(source, View::Object{{"a", false}}), "no");
    EXPECT_EQ(filled(source, View::Object{{"a", View::List{}}}), "no");
    EXPECT_EQ(filled("{{#a}}{{b}}{{/a}}{{^a}}no{{/a}}", View::Object{{"a", View::Object{{"b", "1"}}}}), "1");
}

TEST(Render, DropsTagAndCommentLinesAndKeepsBlankOnes) {
    const std::string source = "{{! about }}\nfirst\n{{#a}}\n\n  {{! more }}\n  item\n{{/a}}\n\nlast\n";
    EXPECT_EQ(filled(source, View::Object{{"a", View::List{"", ""}}}), "first\n\n  item\n\n  item\n\nlast\n");
    EXPECT_EQ(filled(source, View::Object{{"a", false}}), "first\n\nlast\n");
    EXPECT_EQ(filled("{{#a}}\n{{#b}}\nx\n{{/b}}\n{{/a}}\ny", View::Object{{"a", true}, {"b", true}}), "x\ny");
}

TEST(Render, KeepsLineEndsInsideValues) {
    EXPECT_EQ(filled("{{#c}}\n{{a}}\n{{/c}}\nb", View::Object{{"a", "1\n\n2"}, {"c", true}}), "1\n\n2\nb");
}

TEST(Render, RefusesATagWithoutAValue) {
    EXPECT_THAT(faults("one\n{{missing}}", View::Object{}),
                testing::ElementsAre("2: 'missing' has no value"));
    EXPECT_THAT(faults("{{#missing}}{{/missing}}", View::Object{}),
                testing::ElementsAre("1: 'missing' has no value"));
}

TEST(Render, RefusesAMissingValueInOneItemOfAList) {
    const View view = View::Object{{"a", View::List{View::Object{{"x", "1"}}, View::Object{}}}};
    EXPECT_THAT(faults("{{#a}}\n{{x}}\n{{/a}}", view), testing::ElementsAre("2: 'x' has no value"));
}

TEST(Render, ForgivesAMissingValueWhereNothingIsRendered) {
    EXPECT_EQ(filled("{{#a}}{{x}}{{/a}}.", View::Object{{"a", false}}), ".");
    EXPECT_EQ(filled("{{#a}}{{x}}{{/a}}.", View::Object{{"a", View::List{}}}), ".");
}

TEST(Render, RefusesAValueThatNoTagUses) {
    EXPECT_THAT(faults("{{a}}", View::Object{{"a", "1"}, {"b", "2"}}),
                testing::ElementsAre("0: no tag uses 'b'"));
    EXPECT_THAT(faults("{{#a}}{{/a}}", View::Object{{"a", View::List{View::Object{{"x", "1"}}}}}),
                testing::ElementsAre("0: no tag uses 'a.x'"));
}

TEST(Render, CountsUsesInBranchesThatAreNotRendered) {
    EXPECT_EQ(filled("{{#a}}{{b}}{{/a}}.", View::Object{{"a", false}, {"b", "1"}}), ".");
}

TEST(Render, RefusesValuesOfTheWrongKind) {
    EXPECT_THAT(faults("{{a}}", View::Object{{"a", true}}), testing::ElementsAre("1: 'a' is not a string"));
    EXPECT_THAT(faults("{{#a}}{{/a}}", View::Object{{"a", "text"}}),
                testing::ElementsAre("1: 'a' is not a boolean, a list or an object"));
}

TEST(Render, RefusesBrokenTemplates) {
    EXPECT_THAT(faults("{{#a}}\n", View::Object{{"a", true}}),
                testing::ElementsAre("1: section 'a' is not closed"));
    EXPECT_THAT(faults("{{#a}}{{/b}}", View::Object{{"a", true}}),
                testing::ElementsAre("1: '/b' closes no open section"));
    EXPECT_THAT(faults("x\n{{a", View::Object{}), testing::ElementsAre("2: a tag is not closed"));
    EXPECT_THAT(faults("{{=<% %>=}}", View::Object{}), testing::ElementsAre("1: tag '=<% %>=' is not taken"));
}

TEST(Render, PutsPartialsInWithTheirLinesIndentation) {
    const View view = View::Object{{"a", "1"}, {"list", View::List{View::Object{{"b", "2"}}}}};
    EXPECT_EQ(filled("{\n    {{>x}}\n}\n{{>x}}\n", view,
                     {{"x", "{{!A comment.}}\n{{a}};\n\n{{#list}}\n  {{>y}}\n{{/list}}\n"},
                      {"y", "{{a}}{{b}};\n"}}),
              "{\n    1;\n\n      12;\n}\n1;\n\n  12;\n");
}

TEST(Render, ChecksPartialsAsPartsOfTheTemplate) {
    EXPECT_THAT(faults("{{>x}}\n{{>x}}\n", View::Object{{"b", "1"}}, {{"x", "x\n{{a}}\n"}}),
                testing::ElementsAre("2: 'a' has no value", "4: 'a' has no value", "0: no tag uses 'b'"));
}

TEST(Render, RefusesPartialsThatAreMissingUnusedMisplacedOrInThemselves) {
    EXPECT_THAT(faults("x\n{{>a}}\n", View::Object{}), testing::ElementsAre("2: there is no partial 'a'"));
    EXPECT_THAT(faults("x\n", View::Object{}, {{"a", ""}}),
                testing::ElementsAre("0: no tag uses partial 'a'"));
    EXPECT_THAT(faults("x {{>a}}\n{{>a}}\n", View::Object{}, {{"a", ""}}),
                testing::ElementsAre("1: partial 'a' does not stand alone in its line"));
    EXPECT_THAT(faults("{{>a}}\n", View::Object{}, {{"a", "{{>b}}\n"}, {"b", "{{>a}}\n"}}),
                testing::ElementsAre("1: partial 'a' includes itself"));
}

}  // namespace
}  // namespace kf::gen
