// docs/errors.md explains every error id that the sources can report, and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Ids are string literals with a family's prefix; anything else in quotes is not one.
void collect_ids(const fs::path& folder, std::set<std::string>& ids) {
    static const std::regex id(
        "\"((spec|kind|plan|slang|cuda|command|output|input|emit|artifact|device|argument|"
        "compile|kernel|internal)-[a-z0-9]+(-[a-z0-9]+)*)\"");
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string extension = entry.path().extension();
        if (extension != ".cpp" && extension != ".h") {
            continue;
        }
        const std::string text = read(entry.path());
        for (std::sregex_iterator match(text.begin(), text.end(), id), end; match != end; ++match) {
            ids.insert((*match)[1]);
        }
    }
    // The schema names ids too.
    static const std::regex schema_id("\"x-error-id\": \"([^\"]+)\"");
    const std::string schema = read(fs::path(KF_SOURCE_DIR) / "tool/spec/kernelfunctions.schema.json");
    for (std::sregex_iterator match(schema.begin(), schema.end(), schema_id), end; match != end; ++match) {
        ids.insert((*match)[1]);
    }
}

TEST(ErrorsPage, ExplainsEveryId) {
    std::set<std::string> used;
    collect_ids(fs::path(KF_SOURCE_DIR) / "tool", used);
    collect_ids(fs::path(KF_SOURCE_DIR) / "runtime", used);
    ASSERT_GT(used.size(), 10U);

    std::set<std::string> explained;
    static const std::regex row("(^|\n)\\| `([a-z0-9-]+)` \\|");
    const std::string page = read(fs::path(KF_SOURCE_DIR) / "docs/errors.md");
    for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
        EXPECT_TRUE(explained.insert((*match)[2]).second) << (*match)[2] << " is listed twice";
    }
    EXPECT_THAT(explained, testing::ContainerEq(used))
        << "docs/errors.md must have one row | `id` | meaning | cure | for each id in tool/ and runtime/";
}

}  // namespace
