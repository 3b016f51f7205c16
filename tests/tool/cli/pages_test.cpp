// Help, man page, completions and docs/kfgen.md come from the same words and are whole.
#include "cli/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/options.h"
#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> command_names{"init",    "generate", "check",     "list",
                                             "explain", "inspect",  "completion"};
const std::vector<std::string> option_names{"--output",       "--force",
                                            "--output-dir",   "--depfile",
                                            "--stamp",        "--dry-run",
                                            "--against",      "--gradients",
                                            "--device",       "--seed",
                                            "--range",        "--shape",
                                            "--except",       "--format",
                                            "--extract",      "--python",
                                            "--torch-tests",  "--no-embed",
                                            "--define",       "--backend",
                                            "--namespace",    "--include-directory",
                                            "--cache-dir",    "--embed",
                                            "--cxx-option",   "--compile-commands",
                                            "--jobs",         "--verbose",
                                            "--quiet",        "--werror",
                                            "--error-format", "--python-package",
                                            "--name",         "--kernel",
                                            "--show"};

std::string printed(const std::vector<std::string>& arguments) {
    const CommandLine line = parse_command_line(arguments, FakeFileSystem(), "1.2.3");
    EXPECT_TRUE(line.done);
    EXPECT_EQ(line.exit_code, exit_done) << line.text;
    return line.text;
}

TEST(Pages, FitTheScreen) {
    EXPECT_THAT(printed({"--help"}), HasSubstr("usage: kfgen COMMAND"));
    const std::string help = printed({"-h"});
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 24);
    for (const std::string& command : command_names) {
        EXPECT_THAT(help, HasSubstr("\n  " + command + " "));
        const std::string page = printed({command, "--help"});
        EXPECT_THAT(page, testing::StartsWith("usage: kfgen " + command + " "));
        std::istringstream lines(help + page);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 95U) << line;
    }
    EXPECT_THAT(printed({"inspect", "--help"}), Not(HasSubstr("--jobs")));
}

TEST(Pages, NameEveryCommandAndOptionEverywhere) {
    std::string pages;
    for (const std::string& command : command_names) pages += printed({command, "--help"});
    const std::string man = printed({"--man"});
    const std::vector<std::string> scripts{printed({"completion", "bash"}), printed({"completion", "zsh"})};
    const std::string fish = printed({"completion", "fish"});
    for (const std::string& option : option_names) {
        EXPECT_THAT(pages, HasSubstr(option));
        std::string in_troff;
        for (const char c : option) in_troff += c == '-' ? "\\-" : std::string(1, c);
        EXPECT_THAT(man, HasSubstr(in_troff + "\\fR"));
        for (const std::string& script : scripts) EXPECT_THAT(script, HasSubstr(option));
        EXPECT_THAT(fish, HasSubstr(" -l " + option.substr(2) + " "));
    }
    for (const std::string& command : command_names) {
        EXPECT_THAT(man, HasSubstr(".SS " + command + "\n"));
        EXPECT_THAT(scripts[0], HasSubstr("        " + command + ") options="));
        EXPECT_THAT(scripts[1], HasSubstr("        '" + command + ":"));
        EXPECT_THAT(fish, HasSubstr(" -a " + command + " -d "));
    }
    EXPECT_THAT(man, HasSubstr(".TH KFGEN 1 \"\" \"kfgen 1.2.3\""));
}

/// Each "$ kfgen … --help" in the page is followed by what that prints.
TEST(Pages, AreInTheDocs) {
    const std::string path = std::string(KF_SOURCE_DIR) + "/docs/kfgen.md";
    std::ifstream stream(path, std::ios::binary);
    const std::string page{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    std::string expected;
    std::size_t at = 0;
    std::vector<std::string> lines{"$ kfgen --help\n"};
    for (const std::string& command : command_names) lines.push_back("$ kfgen " + command + " --help\n");
    for (const std::string& line : lines) {
        const std::size_t begin = page.find("```\n" + line, at);
        ASSERT_NE(begin, std::string::npos) << line;
        const std::size_t end = page.find("```", begin + 4);
        std::vector<std::string> arguments{"--help"};
        if (line != lines.front())
            arguments.insert(arguments.begin(),
                             command_names[static_cast<std::size_t>(&line - lines.data() - 1)]);
        expected += page.substr(at, begin - at) + "```\n" + line + printed(arguments);
        at = end;
    }
    expected += page.substr(at);
    if (std::getenv("KF_UPDATE_GOLDENS") != nullptr) std::ofstream(path, std::ios::binary) << expected;
    EXPECT_EQ(page, expected) << "KF_UPDATE_GOLDENS=1 writes docs/kfgen.md anew";
}

}  // namespace
}  // namespace kf::gen
