// Tokens of Make's, taken and given back.
#include "process/job_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
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
