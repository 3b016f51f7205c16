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
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void collect(const std::string& text, const std::regex& pattern, std::set<std::string>& ids) {
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
        ids.insert((*match)[1]);
    }
}

/// An id is a string literal of words joined by dashes. Few other things in these sources look like one:
/// options and their values, and keywords of the spec's schema.
std::set<std::string> ids_in_sources() {
    static const std::regex words("\"([a-z][a-z0-9]*(-[a-z0-9]+)+)\"");
    static const std::regex error_code("case ErrorCode::[a-z_]+: return \"([a-z-]+)\"");
    static const std::regex in_schema("\"x-error-id\": \"([a-z-]+)\"");
    static const std::set<std::string> other{"no-embed",  "torch-tests", "libslang-glslang", "slang-glslang",
                                             "kf-kind",   "kfgen-check", "x-error-id",       "x-expected",
                                             "x-not-yet", "elf-aarch64", "coff-arm64"};
    std::set<std::string> ids;
    for (const char* folder : {"tool", "runtime"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(KF_SOURCE_DIR) / folder)) {
            const std::string extension = entry.path().extension();
            if (extension == ".cpp" || extension == ".h") {
                const std::string text = read(entry.path());
                collect(text, words, ids);
                collect(text, error_code, ids);
            }
        }
    }
    collect(read(fs::path(KF_SOURCE_DIR) / "tool/spec/kernelfunctions.schema.json"), in_schema, ids);
    for (const std::string& word : other) {
        ids.erase(word);
    }
    return ids;
}

TEST(ErrorsPage, ExplainsEveryId) {
    const std::set<std::string> used = ids_in_sources();
    ASSERT_GT(used.size(), 10U);

    std::set<std::string> explained;
    static const std::regex row("(^|\n)\\| `([a-z0-9-]+)` \\|");
    const std::string page = read(fs::path(KF_SOURCE_DIR) / "docs/errors.md");
    for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
        EXPECT_TRUE(explained.insert((*match)[2]).second) << (*match)[2] << " is listed twice";
    }
    std::vector<std::string> missing;
    std::set_difference(used.begin(), used.end(), explained.begin(), explained.end(),
                        std::back_inserter(missing));
    EXPECT_THAT(missing, testing::IsEmpty())
        << "give each a row in docs/errors.md: | `id` | meaning | cure |";
    std::vector<std::string> unused;
    std::set_difference(explained.begin(), explained.end(), used.begin(), used.end(),
                        std::back_inserter(unused));
    EXPECT_THAT(unused, testing::IsEmpty()) << "nothing reports these any more: take their rows out";
}

}  // namespace
