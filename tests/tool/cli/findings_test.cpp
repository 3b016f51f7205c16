// What is printed of warnings and errors, and which of them end a command.
#include "cli/findings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

const Diagnostic warning{Severity::warning, "slang-E41016", {"m.slang", 2, 5}, "not set", {"a note"}};
const Diagnostic error{Severity::error, "spec-type", {"m.kf.json", 1, 2}, "no number", {}};
const Diagnostic failure{Severity::error, "slang-timeout", {}, "too slow", {}};

constexpr const char* warning_text = "m.slang:2:5: warning: not set [slang-E41016]\n    note: a note\n";
constexpr const char* error_text = "m.kf.json:1:2: error: no number [spec-type]\n";

TEST(Findings, NothingFoundSaysNothing) {
    const Findings found = findings({}, {}, {});
    EXPECT_EQ(found.text, "");
    EXPECT_EQ(found.exit_code, exit_done);
}

TEST(Findings, WarningsArePrintedAndTheCommandGoesOn) {
    for (const Verbosity verbosity : {Verbosity::normal, Verbosity::verbose}) {
        Options options;
        options.verbosity = verbosity;
        const Findings found = findings({warning}, {}, options);
        EXPECT_EQ(found.text, warning_text);
        EXPECT_EQ(found.exit_code, exit_done);
    }
    Options json;
    json.error_format = ErrorFormat::json;
    EXPECT_EQ(findings({warning}, {}, json).text, format_json(warning) + "\n");
}

TEST(Findings, ShowTheSourceLine) {
    FakeFileSystem disk;
    disk.files["m.kf.json"] = "{nonsense";
    const Findings found = findings({warning}, {error}, {}, &disk);
    EXPECT_EQ(found.text, std::string(warning_text) + error_text + "    1 | {nonsense\n      |  ^~~~~~~~\n");
    Options json;
    json.error_format = ErrorFormat::json;
    EXPECT_EQ(findings({}, {error}, json, &disk).text, format_json(error) + "\n");
}

TEST(Findings, WarningsComeBeforeErrors) {
    const Findings found = findings({warning}, {error}, {});
    EXPECT_EQ(found.text, std::string(warning_text) + error_text);
    EXPECT_EQ(found.exit_code, exit_input);
}

TEST(Findings, ManyAreCounted) {
    const auto many = [](Severity severity, std::size_t count) {
        Diagnostics all;
        for (std::size_t i = 0; i < count; ++i) {
            const auto line = static_cast<std::int64_t>(i + 1);
            all.push_back({severity, "spec-type", {"m.kf.json", line, 2}, std::string(500, 'x'), {"a note"}});
        }
        return all;
    };
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    for (const ErrorFormat format : {ErrorFormat::text, ErrorFormat::json}) {
        Options options;
        options.error_format = format;
        const int each = format == ErrorFormat::json ? 1 : 2;
        EXPECT_EQ(lines(findings({}, many(Severity::error, most_findings), options).text),
                  each * static_cast<int>(most_findings));
        Diagnostics errors = many(Severity::error, 10'000);
        errors.push_back(failure);  // left out, and what the command exits with
        const Findings found = findings(many(Severity::warning, 200), errors, options);
        EXPECT_EQ(lines(found.text), 2 * (each * static_cast<int>(most_findings) + 1));
        EXPECT_LT(found.text.size(), 200'000U);
        EXPECT_NE(found.text.find("100 more warnings aren't shown"), std::string::npos);
        EXPECT_NE(found.text.find("9901 more errors aren't shown"), std::string::npos);
        EXPECT_EQ(found.exit_code, exit_failed);
    }
}

TEST(Findings, AQuietCommandKeepsWarningsToItself) {
    Options options;
    options.verbosity = Verbosity::quiet;
    EXPECT_EQ(findings({warning}, {}, options).text, "");
    EXPECT_EQ(findings({warning}, {}, options).exit_code, exit_done);
    EXPECT_EQ(findings({warning}, {error}, options).text, error_text);
}

TEST(Findings, WerrorMakesWarningsErrors) {
    for (const Verbosity verbosity : {Verbosity::quiet, Verbosity::normal}) {
        Options options;
        options.verbosity = verbosity;
        options.werror = true;
        const Findings found = findings({warning}, {}, options);
        EXPECT_EQ(found.text, "m.slang:2:5: error: not set [slang-E41016]\n    note: a note\n");
        EXPECT_EQ(found.exit_code, exit_input);
        EXPECT_EQ(findings({}, {}, options).exit_code, exit_done);
    }
}

TEST(Findings, FailuresHaveACodeOfTheirOwn) {
    EXPECT_EQ(findings({}, {error, failure}, {}).exit_code, exit_failed);
    EXPECT_EQ(findings({}, {failure, error}, {}).exit_code, exit_failed);
    Options options;
    options.werror = true;
    EXPECT_EQ(findings({warning}, {failure}, options).exit_code, exit_failed);
    EXPECT_EQ(findings({}, {{Severity::error, "internal-plan", {}, "", {}}}, {}).exit_code, exit_failed);
}

TEST(Findings, ReadsOutcomes) {
    EXPECT_EQ(findings(Outcome<int>(1).with_warnings({warning}), {}).text, warning_text);
    EXPECT_EQ(findings(Outcome<int>(error).with_warnings({warning}), {}).text,
              std::string(warning_text) + error_text);
}

}  // namespace
}  // namespace kf::gen
