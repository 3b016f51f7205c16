// JSON with places: where each value, key and mistake is.
#include "spec/json.h"

#include <gtest/gtest.h>

#include <chrono>

namespace kf::gen {
namespace {

JsonNode parse_node(std::string_view text) {
    const Outcome<JsonNode> outcome = parse_json(text, "t.json");
    if (!outcome) {
        ADD_FAILURE() << format_text(outcome.errors().front());
        return {};
    }
    return outcome.value();
}

Diagnostic first_error(std::string_view text) {
    const Outcome<JsonNode> outcome = parse_json(text, "t.json");
    if (outcome) {
        ADD_FAILURE() << "parsed: " << text;
        return {};
    }
    return outcome.errors().front();
}

Location at(std::int64_t line, std::int64_t column) { return {"t.json", line, column}; }

TEST(Json, GivesEveryValueAndKeyItsPlace) {
    const JsonNode root =
        parse_node("{\n  \"a\": [1, -2.5,\n   true],\n  \"b\" : {\"c\":null, \"d\":\"x:,{y\\\"z\"}}\n");
    EXPECT_EQ(root.location, at(1, 1));
    ASSERT_EQ(root.members.size(), 2U);
    EXPECT_EQ(root.members[0].location, at(2, 3));
    const JsonNode& a = *root.find("a");
    EXPECT_EQ(a.location, at(2, 8));
    EXPECT_EQ(a.items[0].location, at(2, 9));
    EXPECT_EQ(a.items[0].type, JsonType::integer);
    EXPECT_EQ(a.items[1].location, at(2, 12));
    EXPECT_EQ(a.items[1].text, "-2.5");
    EXPECT_EQ(a.items[1].type, JsonType::number);
    EXPECT_EQ(a.items[2].location, at(3, 4));
    EXPECT_TRUE(a.items[2].is_true());
    const JsonNode& b = *root.find("b");
    EXPECT_EQ(b.location, at(4, 9));
    EXPECT_EQ(b.find("c")->type, JsonType::null);
    EXPECT_EQ(b.find("d")->location, at(4, 24));
    EXPECT_EQ(b.find("d")->text, "x:,{y\"z");
    EXPECT_EQ(root.find("e"), nullptr);
}

TEST(Json, CountsCodePointsAndSkipsAByteOrderMark) {
    const JsonNode root = parse_node("\xEF\xBB\xBF[\"\xC3\xA4\xE2\x82\xAC\", 1]");
    EXPECT_EQ(root.location, at(1, 1));
    EXPECT_EQ(root.items[1].location, at(1, 8));
}

TEST(Json, KeepsIntegersTooLargeFor64Bits) {
    const JsonNode root = parse_node("[123456789012345678901234567890, 1e3]");
    EXPECT_EQ(root.items[0].type, JsonType::integer);
    EXPECT_EQ(root.items[0].text, "123456789012345678901234567890");
    EXPECT_EQ(root.items[1].type, JsonType::number);
}

TEST(Json, ReportsWhereTheSyntaxBreaks) {
    struct Case {
        std::string_view text;
        Location location;
        std::string_view message;  // a part of it, or of a note
    };
    const Case cases[] = {
        {"", at(1, 1), "ends too early"},
        {"{\"a\": [1,\n 2", at(2, 3), "the array that begins at line 1, column 7 is never closed"},
        {"{\"a\": 1,}", at(1, 9), "no comma after the last"},
        {"[1,\n]", at(2, 1), "no comma after the last"},
        {"{\"a\" 1}", at(1, 6), "':'"},
        {"{\"a\":,}", at(1, 6), "','"},
        {"{a: 1}", at(1, 2), "object key"},
        {"{'a': 1}", at(1, 2), "double quotes"},
        {"{\"a\": \xE2\x80\x9Cx\xE2\x80\x9D}", at(1, 7), "double quotes"},
        {"[\xC3]", at(1, 2), "last read: '[\xEF\xBF\xBD'"},
        {"{\"a\": tru}", at(1, 7), "value"},
        {"# hi\n{}", at(1, 1), "comments are written // … and /* … */"},
        {"{\n/* hi }", at(2, 1), "the comment that begins here is never closed"},
        {"/* é */ // {\n  [1 /**/, / 2]", at(2, 12), "comment"},
        {"{} {}", at(1, 4), "end of input"},
        {"{\"a\": \"x\ny\"}", at(1, 7), "control character"},
        {"[\"\xFF\"]", at(1, 2), "UTF-8"},
        {"[01]", at(1, 3), "number literal"},
        {"[1.5.2]", at(1, 5), "invalid literal"},
        {"[truefalse]", at(1, 6), "literal"},
        {"[nan]", at(1, 2), "value"},
    };
    for (const Case& c : cases) {
        const Diagnostic error = first_error(c.text);
        EXPECT_EQ(error.id, "spec-syntax") << c.text;
        EXPECT_EQ(error.location, c.location) << c.text << " -> " << format_text(error);
        EXPECT_NE(format_text(error).find(c.message), std::string::npos)
            << c.text << " -> " << format_text(error);
        EXPECT_EQ(error.message.find("json.exception"), std::string::npos) << error.message;
    }
}

TEST(Json, PassesOverComments) {
    const JsonNode root = parse_node("// a: 'b'\n{ /* é\n, */ \"k\" // :\n: [1, /* // */ 2] } // end");
    ASSERT_EQ(root.members.size(), 1U);
    EXPECT_EQ(root.members[0].location, at(3, 6));
    EXPECT_EQ(root.members[0].value.items.at(1).location, at(4, 16));
    EXPECT_EQ(parse_node("\"/* no comment */\"").text, "/* no comment */");
}

TEST(Json, ReportsEveryDuplicateKey) {
    const Outcome<JsonNode> outcome =
        parse_json("{\"a\": 1,\n \"a\": 2, \"b\": {\"c\": 1, \"c\": 1}}", "t.json");
    ASSERT_FALSE(outcome);
    ASSERT_EQ(outcome.errors().size(), 2U);
    EXPECT_EQ(outcome.errors()[0].id, "spec-duplicate-key");
    EXPECT_EQ(outcome.errors()[0].location, at(2, 2));
    EXPECT_EQ(outcome.errors()[0].notes.at(0), "first given at line 1, column 2");
    EXPECT_EQ(outcome.errors()[1].location, at(2, 24));
}

TEST(Json, RefusesEndlessNesting) {
    const Diagnostic error = first_error(std::string(100000, '['));
    EXPECT_EQ(error.id, "spec-syntax");
    EXPECT_EQ(error.location, at(1, 65));
    parse_node(std::string(64, '[') + std::string(64, ']'));
}

/// A line of some megabytes, and an object of many keys: time that grows with the square would be minutes.
TEST(Json, ReadsLongLinesAndLargeObjectsAtOnce) {
    std::string numbers = "[";
    std::string keys = "{";
    for (int i = 0; i < 200000; ++i) {
        numbers += std::to_string(i) + ", ";
        keys += "\"é" + std::to_string(i) + "\":0,";
    }
    const auto begin = std::chrono::steady_clock::now();
    const JsonNode list = parse_node(numbers + "0]");
    const JsonNode object = parse_node(keys + "\"z\":1}");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    EXPECT_EQ(list.items.back().location, at(1, static_cast<std::int64_t>(numbers.size()) + 1));
    EXPECT_EQ(object.members.back().location, at(1, static_cast<std::int64_t>(keys.size()) - 200000 + 1));
}

TEST(Json, SurvivesEveryTruncationAndEveryByteReplaced) {
    const std::string text = R"({"version": 1, "a": ["x\u00e4", -1.5e3, true, null], "b": {"c": "}"}})";
    for (std::size_t i = 0; i < text.size(); ++i) {
        EXPECT_FALSE(parse_json(text.substr(0, i), "t.json").ok()) << i;
        for (const char c : {'\0', '"', '\\', '{', '}', '\xFF', '\n', ','}) {
            std::string changed = text;
            changed[i] = c;
            const Outcome<JsonNode> outcome = parse_json(changed, "t.json");
            EXPECT_TRUE(outcome.ok() || !outcome.errors().empty());
        }
    }
}

}  // namespace
}  // namespace kf::gen
