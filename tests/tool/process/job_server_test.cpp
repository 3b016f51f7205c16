// Tokens of Make's, taken and given back.
#include "process/job_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>

namespace kf::process {
namespace {

class JobServerTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(pipe(ends_.data()), 0); }
    void TearDown() override {
        for (const int end : ends_) close(end);
    }
    void put(const std::string& tokens) const {
        ASSERT_EQ(write(ends_[1], tokens.data(), tokens.size()), static_cast<ssize_t>(tokens.size()));
    }
    [[nodiscard]] std::string flags() const {
        return "-j3 --jobserver-auth=" + std::to_string(ends_[0]) + "," + std::to_string(ends_[1]);
    }

    std::array<int, 2> ends_{};
};

TEST_F(JobServerTest, GivesATokenToEachJobAndTakesItBack) {
    put("ab");
    const auto server = JobServer::of(flags());
    ASSERT_NE(server, nullptr);
    {
        const JobServer::Slot first = server->wait();
        const JobServer::Slot second = server->wait();
        EXPECT_TRUE(first && second);
        EXPECT_FALSE(server->wait());
    }
    std::array<char, 3> all{};
    EXPECT_EQ(read(ends_[0], all.data(), all.size()), 2) << "every token is there again";
}

TEST_F(JobServerTest, ASignalThatEndsTheProcessGivesEverythingBack) {
    for (const int signal : {SIGTERM, SIGINT}) {
        put("aab");
        std::array<int, 2> told{};
        ASSERT_EQ(pipe(told.data()), 0);
        const pid_t child = fork();
        if (child == 0) {
            const auto server = JobServer::of(flags());
            const JobServer::Slot first = server->wait();
            const JobServer::Slot second = server->wait();
            // A child of its own has none of them, whatever ends it.
            const pid_t inner = fork();
            if (inner == 0) {
                raise(signal);
                _exit(1);
            }
            int status = 0;
            waitpid(inner, &status, 0);
            const char how = WIFSIGNALED(status) ? 'k' : 'e';
            if (write(told[1], &how, 1) != 1) _exit(1);
            for (;;) pause();
        }
        char how = 0;
        ASSERT_EQ(read(told[0], &how, 1), 1);
        EXPECT_EQ(how, 'k');
        std::array<char, 4> all{};
        EXPECT_EQ(read(ends_[0], all.data(), all.size()), 1) << "two are taken";
        ASSERT_EQ(kill(child, signal), 0);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
        ASSERT_EQ(read(ends_[0], all.data(), all.size()), 2);
        EXPECT_EQ(all[0], 'a');
        EXPECT_EQ(all[1], 'a');
        for (const int end : told) close(end);
    }
}

TEST_F(JobServerTest, OpensANamedPipe) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("jobs" + std::to_string(getpid()));
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const auto server = JobServer::of(" -j --jobserver-auth=fifo:" + path.string() + " -- X=1");
    ASSERT_NE(server, nullptr);
    EXPECT_FALSE(server->wait());
    std::filesystem::remove(path);
}

TEST_F(JobServerTest, IsNoneWhereMakeHandedNoneOver) {
    for (const std::string flags : {"", "-k", "-j3 --jobserver-auth=-2,-2", "--jobserver-auth=fifo:/nowhere",
                                    "--jobserver-auth=900,901", "--jobserver-auth=x"}) {
        EXPECT_EQ(JobServer::of(flags), nullptr) << flags;
    }
}

}  // namespace
}  // namespace kf::process
