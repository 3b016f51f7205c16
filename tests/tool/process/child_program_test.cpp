// Programs as children: they get a socket and nothing else that is open, and end with their object.
#include "process/child_program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <system_error>

#include "process/socket_messages.h"

namespace kf::process {
namespace {

class ChildPrograms : public testing::Test {
protected:
    ChildPrograms() {
        std::string name = (std::filesystem::temp_directory_path() / "kf_child_XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~ChildPrograms() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::filesystem::path program(const std::string& text) const {
        std::filesystem::path path = folder_ / "program";
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    }

    std::filesystem::path folder_;
};

std::string read_all(int file) {
    std::string text;
    std::array<char, 1000> part{};
    for (ssize_t size = 0; (size = read(file, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(size));
    return text;
}

TEST_F(ChildPrograms, TalkThroughTheirSocket) {
    ChildProgram child(program("#!/bin/sh\nread line <&\"$1\"\necho \"$1 $line\" >&\"$1\"\nexit 5\n"));
    ASSERT_EQ(write(child.socket(), "hello\n", 6), 6);
    EXPECT_EQ(read_all(child.socket()), "3 hello\n");
    EXPECT_EQ(describe_status(child.wait()), "exit status 5");
}

TEST_F(ChildPrograms, GetNoOtherFile) {
    const int open_here = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ChildProgram child(program("#!/bin/sh\nls /proc/$$/fd | sort -n | tr '\\n' ' ' >&3\n"));
    close(open_here);
    // A shell keeps the script itself open, too, far above.
    EXPECT_THAT(read_all(child.socket()), testing::StartsWith("0 1 2 3 "));
    EXPECT_EQ(child.wait(), 0);
}

TEST_F(ChildPrograms, EndWithTheirObject) {
    auto child = std::make_unique<ChildProgram>(program("#!/bin/sh\necho $$ >&3\nexec sleep 1000\n"));
    std::array<char, 20> text{};
    ASSERT_GT(read(child->socket(), text.data(), text.size() - 1), 0);
    const pid_t pid = std::atoi(text.data());
    EXPECT_EQ(kill(pid, 0), 0);
    child.reset();
    EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(ChildPrograms, WhatCannotRunIsAnError) {
    EXPECT_THROW(ChildProgram(folder_ / "none"), std::system_error);
    EXPECT_THROW(ChildProgram{program("no program")}, std::system_error);
}

TEST_F(ChildPrograms, StandardStreamsMayBeClosed) {
    const std::filesystem::path echo = program("#!/bin/sh\necho said >&3\n");
    EXPECT_EXIT(
        {
            for (const int file : {0, 1, 2}) close(file);
            ChildProgram child(echo);
            const bool above = child.socket() > 3;
            const bool said = read_all(child.socket()) == "said\n";
            _exit(above && said && child.wait() == 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kf::process
