// Which releases of Slang read which texts.
#include "slang/gradient_texts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "slang/workarounds/workarounds.h"
#include "support/support_modules.h"

namespace kf::gen {
namespace {

constexpr Workaround some_fault{.name = "some",
                                .fault = "is wrong",
                                .report = "",
                                .record = "",
                                .since = {2026, 6},
                                .fixed = SlangVersion{2026, 16}};

TEST(GradientTexts, WorkaroundsAreForTheirReleases) {
    const auto needed = [](const char* tag) { return is_needed(some_fault, slang_version(tag)); };
    EXPECT_FALSE(needed("2026.5.2"));
    EXPECT_TRUE(needed("2026.6"));
    EXPECT_TRUE(needed("2026.15.3"));
    EXPECT_FALSE(needed("2026.16"));
    EXPECT_FALSE(needed("v2026.16-3-g1a2b3c"));
    EXPECT_TRUE(needed("some build")) << "it may have every fault";
    Workaround open = some_fault;
    open.fixed = std::nullopt;
    EXPECT_TRUE(is_needed(open, slang_version("2030.1")));
}

TEST(GradientTexts, AreLeftAsTheyAreForReleasesWithoutAFault) {
    const std::string text = "[Differentiable] float3 f(float a, float3 v) { return a * v; }\n";
    const auto changed_for = [&](const char* tag) {
        return keep_gradients(text, needed_workarounds(slang_version(tag)));
    };
    EXPECT_NE(changed_for("2026.12"), text);
    EXPECT_EQ(changed_for("some build"), changed_for("2026.12"));
    EXPECT_EQ(changed_for("2026.16"), text);
}

// They are loaded as they are, so they must not need a change.
TEST(GradientTexts, SupportModulesNeedNoWorkaround) {
    for (const SupportModule& module : support_modules())
        EXPECT_EQ(keep_gradients(module.text, needed_workarounds(std::nullopt)), module.text) << module.name;
}

TEST(GradientTexts, WorkaroundsSayWhatTheyAreFor) {
    for (const Workaround* workaround : workarounds()) {
        EXPECT_FALSE(workaround->name.empty());
        EXPECT_FALSE(workaround->fault.empty()) << workaround->name;
        EXPECT_FALSE(workaround->record.empty()) << workaround->name;
        EXPECT_TRUE(!workaround->fixed || workaround->since < *workaround->fixed) << workaround->name;
        EXPECT_NE(workaround->change_text == nullptr, workaround->repair_code == nullptr) << workaround->name;
    }
}

// A row of a table begins with the name and the releases.
TEST(GradientTexts, WorkaroundsAreDocumented) {
    const std::filesystem::path docs = std::filesystem::path(KF_SOURCE_DIR) / "docs";
    std::ifstream file(docs / "slang_faults.md");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (const Workaround* workaround : workarounds()) {
        const std::string since =
            workaround->since == SlangVersion() ? "always" : to_string(workaround->since);
        const std::string fixed = workaround->fixed ? to_string(*workaround->fixed) : "—";
        const std::string row =
            "\n| " + std::string(workaround->name) + " | " + since + " | " + fixed + " | ";
        EXPECT_NE(text.find(row), std::string::npos) << "docs/slang_faults.md should have a row" << row;
        const std::string number(workaround->report.substr(workaround->report.find('#') + 1));
        EXPECT_NE(text.find("issues/" + number), std::string::npos) << workaround->name;
        EXPECT_TRUE(std::filesystem::exists(docs / workaround->record)) << workaround->name;
    }
}

}  // namespace
}  // namespace kf::gen
