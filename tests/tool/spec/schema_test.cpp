// The shipped schema: it is strict, described throughout, and agrees with parse_kind.
#include "spec/schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "spec/kind.h"

namespace kf::gen {
namespace {

using nlohmann::json;

void expect_described(const json& schema, const std::string& path) {
    const json properties = schema.value("properties", json::object());
    for (const auto& item : properties.items()) {
        const json& property = item.value();
        const bool refers = property.contains("$ref");  // to a $def that describes itself
        EXPECT_TRUE(property.contains("description") || refers) << path << '/' << item.key();
        expect_described(property, path + '/' + item.key());
    }
    const json branches = schema.value("anyOf", json::array());
    for (const json& branch : branches) {
        expect_described(branch, path);
    }
}

TEST(Schema, DescribesEveryKey) {
    const json schema = json::parse(spec_schema());
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    expect_described(schema, "");
    for (const auto& item : schema["$defs"].items()) {
        EXPECT_EQ(item.value().contains("title"), item.value().contains("description")) << item.key();
        expect_described(item.value(), item.key());
    }
}

void expect_strict(const json& schema, const std::string& path) {
    if (schema.is_object() && schema.contains("properties") && path != "/$defs/reserved") {
        ASSERT_TRUE(schema.contains("additionalProperties")) << path;
        EXPECT_EQ(schema["additionalProperties"], false) << path;
    }
    if (schema.is_object() && schema.contains("pattern")) {
        // Patterns are matched whole by kfgen and searched for by editors: anchors make that one.
        const auto pattern = schema["pattern"].get<std::string>();
        EXPECT_EQ(pattern.front(), '^') << path;
        EXPECT_EQ(pattern.back(), '$') << path;
        EXPECT_TRUE(schema.contains("x-expected") || schema.contains("format")) << path;
    }
    if (schema.is_structured()) {
        for (const auto& item : schema.items()) {
            expect_strict(item.value(), path + '/' + item.key());
        }
    }
}

TEST(Schema, IsStrict) { expect_strict(json::parse(spec_schema()), ""); }

TEST(Schema, KindPatternAgreesWithTheParser) {
    const json schema = json::parse(spec_schema());
    const std::regex pattern(schema["$defs"]["kind_text"]["pattern"].get<std::string>());
    for (std::string spelling : kind_spellings()) {
        spelling = std::regex_replace(spelling, std::regex("<type>"), "<float3>");
        spelling = std::regex_replace(spelling, std::regex("\\[(rank|n)\\]"), "[2]");
        EXPECT_TRUE(std::regex_match(spelling, pattern)) << spelling;
        EXPECT_TRUE(parse_kind(spelling, {}).ok()) << spelling;
    }
    for (const char* wrong : {"", "tensr[1]", "tensor[x]", "tensor<>[1]", "texture3d_array", "texture4d",
                              "Value", "tensor[1] x", "value,value", "wbuffer"}) {
        EXPECT_FALSE(std::regex_match(wrong, pattern)) << wrong;
        EXPECT_FALSE(parse_kind(wrong, {}).ok()) << wrong;
    }
}

TEST(Validate, RefusesSchemasItCannotCheck) {
    const JsonNode document = parse_json("{}", "s").value();
    EXPECT_THROW(validate(document, R"({"type": "object", "maxProperties": 1})"), std::logic_error);
}

TEST(Validate, TreatsEqualObjectsAsTwins) {
    const std::string_view schema = R"({"type": "array", "uniqueItems": true})";
    const auto count = [&](std::string_view text) {
        return validate(parse_json(text, "s").value(), schema).size();
    };
    EXPECT_EQ(count(R"([{"a": 1, "b": [2]}, {"b": [2], "a": 1}])"), 1U);
    EXPECT_EQ(count(R"([{"a": 1}, {"a": "1"}, {"a": [1]}, ["a", 1], 1, "1"])"), 0U);
}

}  // namespace
}  // namespace kf::gen
