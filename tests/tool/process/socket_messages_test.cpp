// Messages through a socket: whole ones, late ones, and ends that are closed.
#include "process/socket_messages.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

namespace kf::process {
namespace {

using namespace std::chrono_literals;

class SocketMessages : public testing::Test {
protected:
    SocketMessages() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0); }
    ~SocketMessages() override {
        close(ends_[0]);
        close(ends_[1]);
    }

    std::array<int, 2> ends_{};
};

TEST_F(SocketMessages, ArriveWhole) {
    const std::string large(3'000'000, 'x');
    std::thread sender([&] {
        EXPECT_EQ(send_message(ends_[0], large), Transfer::done);
        EXPECT_EQ(send_message(ends_[0], {}), Transfer::done);
        EXPECT_EQ(send_message(ends_[0], std::string_view("a\0b", 3)), Transfer::done);
    });
    std::string text;
    EXPECT_EQ(receive_message(ends_[1], text), Transfer::done);
    EXPECT_EQ(text, large);
    EXPECT_EQ(receive_message(ends_[1], text), Transfer::done);
    EXPECT_EQ(text, "");
    EXPECT_EQ(receive_message(ends_[1], text), Transfer::done);
    EXPECT_EQ(text, std::string("a\0b", 3));
    sender.join();
}

TEST_F(SocketMessages, HaveADeadline) {
    std::string text;
    const Deadline soon = std::chrono::steady_clock::now() + 20ms;
    EXPECT_EQ(receive_message(ends_[1], text, soon), Transfer::timed_out);
    EXPECT_EQ(send_message(ends_[0], std::string(30'000'000, 'x'), soon), Transfer::timed_out);
}

TEST_F(SocketMessages, AClosedEndIsNoticed) {
    EXPECT_FALSE(is_abandoned(ends_[1]));
    ASSERT_EQ(write(ends_[0], "half", 4), 4);
    ASSERT_EQ(shutdown(ends_[0], SHUT_RDWR), 0);
    std::string text;
    EXPECT_TRUE(is_abandoned(ends_[1]));
    EXPECT_EQ(receive_message(ends_[1], text), Transfer::broken);
    EXPECT_EQ(send_message(ends_[1], "text"), Transfer::broken);
}

TEST_F(SocketMessages, TextIsNoLength) {
    ASSERT_EQ(write(ends_[0], "Hello, world", 12), 12);
    std::string text;
    EXPECT_EQ(receive_message(ends_[1], text), Transfer::broken);
}

TEST(Statuses, AreTold) {
    EXPECT_EQ(describe_status(SIGSEGV), "signal 11 (Segmentation fault)");
    EXPECT_EQ(describe_status(3 << 8), "exit status 3");
}

}  // namespace
}  // namespace kf::process
