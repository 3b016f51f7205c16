// docs/spec.md is the schema's own words.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "spec/schema.h"

namespace kf::gen {
namespace {

TEST(SchemaMarkdown, IsWhatDocsHold) {
    const std::string path = std::string(KF_SOURCE_DIR) + "/docs/spec.md";
    const std::string expected = schema_markdown(spec_schema());
    if (std::getenv("KF_UPDATE_GOLDENS") != nullptr) {
        std::ofstream(path, std::ios::binary) << expected;
    }
    std::ifstream stream(path, std::ios::binary);
    const std::string found{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    EXPECT_EQ(found, expected)
        << "To accept: KF_UPDATE_GOLDENS=1 spec_test, then review the diff of docs/spec.md";
}

TEST(SchemaMarkdown, LinksSectionsAndEscapesBars) {
    const std::string page = schema_markdown(
        R"({"title": "T", "description": "D.", "type": "object", "required": ["a"],
            "properties": {"a": {"$ref": "#/$defs/thing", "description": "x | y"}},
            "$defs": {"thing": {"title": "A Thing", "description": "Words.", "type": "string", "enum": ["p", "q"]}}})");
    EXPECT_NE(page.find("| `a` (required) | [a Thing](#a-thing) | x \\| y |"), std::string::npos) << page;
    EXPECT_NE(page.find("## A Thing\n\nWords.\n"), std::string::npos) << page;
}

}  // namespace
}  // namespace kf::gen
