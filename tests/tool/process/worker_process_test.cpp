// A child that answers, dies or hangs.
#include "process/worker_process.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kf::process {
namespace {

using namespace std::chrono_literals;
using Result = WorkerProcess::Result;

std::string handle(const std::string& request) {
    if (request == "die") {
        raise(SIGKILL);
    }
    if (request == "throw") {
        throw std::runtime_error("no");
    }
    if (request == "exit") {
        _exit(3);
    }
    if (request == "hang") {
        for (;;) {
            std::this_thread::sleep_for(1h);
        }
    }
    if (request == "spin") {
        for (volatile bool on = true; on;) {
        }
    }
    if (request == "nap") {
        for (int naps = 0; naps < 50; ++naps) std::this_thread::sleep_for(20ms);
    }
    if (request == "grow") {
        for (std::vector<std::string> all;;) all.emplace_back(1 << 20, 'x');
    }
    if (request == "pid") {
        return std::to_string(getpid());
    }
    return request + "!";
}

TEST(WorkerProcess, Answers) {
    WorkerProcess worker(handle);
    EXPECT_TRUE(worker.running());
    EXPECT_EQ(worker.call("a", 10s).text, "a!");
    EXPECT_EQ(worker.call("", 10s).text, "!");
    EXPECT_NE(worker.call("pid", 10s).text, std::to_string(getpid()));
}

TEST(WorkerProcess, AChildThatGrowsIsStopped) {
    WorkerProcess worker(handle);
    EXPECT_EQ(worker.call("grow", 60s, std::uint64_t{300} << 20).result, Result::too_large);
    EXPECT_EQ(worker.call("a", 60s, std::uint64_t{4} << 30).text, "a!");
    EXPECT_EQ(worker.call("hang", 50ms, std::uint64_t{4} << 30).result, Result::timed_out);
}

TEST(WorkerProcess, CarriesLargeMessages) {
    WorkerProcess worker(handle);
    std::string large(20'000'000, 'x');
    large[12'345'678] = '\0';
    EXPECT_TRUE(worker.call(large, 60s).text == large + "!");
}

TEST(WorkerProcess, KeepsStateBetweenCalls) {
    WorkerProcess worker(
        [count = std::make_shared<int>(0)](const std::string&) { return std::to_string(++*count); });
    EXPECT_EQ(worker.call("", 10s).text, "1");
    EXPECT_EQ(worker.call("", 10s).text, "2");
}

TEST(WorkerProcess, ReportsADeathAndStartsAnother) {
    WorkerProcess worker(handle);
    const auto killed = worker.call("die", 10s);
    EXPECT_EQ(killed.result, Result::died);
    EXPECT_THAT(killed.text, testing::HasSubstr("signal 9"));
    EXPECT_EQ(worker.call("a", 10s).text, "a!");
    EXPECT_EQ(worker.call("exit", 10s).text, "exit status 3");
    EXPECT_EQ(worker.call("throw", 10s).result, Result::died);
    EXPECT_EQ(worker.call("b", 10s).text, "b!");
}

TEST(WorkerProcess, StopsWhatTakesTooLong) {
    WorkerProcess worker(handle);
    const pid_t child = std::stoi(worker.call("pid", 10s).text);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(worker.call("hang", 50ms).result, Result::timed_out);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_EQ(kill(child, 0), -1);
    EXPECT_EQ(worker.call("a", 10s).text, "a!");
}

TEST(WorkerProcess, ChildrenEndWithTheirObject) {
    pid_t child = 0;
    {
        WorkerProcess worker(handle);
        child = std::stoi(worker.call("pid", 10s).text);
        EXPECT_EQ(kill(child, 0), 0);
    }
    EXPECT_EQ(kill(child, 0), -1);
}

TEST(WorkerProcess, AnAbandonedChildEnds) {
    // A worker of a worker: when the middle process is killed, even a hanging grandchild must go.
    auto middle = std::make_unique<WorkerProcess>(
        [inner = std::shared_ptr<WorkerProcess>()](const std::string& request) mutable {
            inner = std::make_shared<WorkerProcess>(handle);
            const std::string pid = inner->call("pid", 10s).text;
            if (request == "hang") {
                std::thread([inner] { (void)inner->call("hang", 1h); }).detach();
                std::this_thread::sleep_for(50ms);
            }
            return pid;
        });
    const pid_t grandchild = std::stoi(middle->call("hang", 10s).text);
    EXPECT_EQ(kill(grandchild, 0), 0);
    middle.reset();
    // Orphans are reaped by whatever process 1 is, so a zombie is as good as gone.
    const auto gone = [&] {
        std::ifstream status("/proc/" + std::to_string(grandchild) + "/stat");
        std::string text;
        return !std::getline(status, text) || text.find(") Z ") != std::string::npos;
    };
    for (int tries = 0; tries < 500 && !gone(); ++tries) {
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_TRUE(gone());
}

TEST(WorkerProcess, LimitsReadAsSentences) {
    WorkerProcess worker(handle);
    // A busy machine may give it nothing for a while, but not for so long.
    EXPECT_EQ(worker.call("spin", 2s).text, "longer than 2 s of processor time");
    EXPECT_EQ(worker.call("hang", 1s).text, "longer than 1 s, in which it did nothing");
    EXPECT_EQ(worker.call("grow", 60s, std::uint64_t{300} << 20).text, "more than 300 MiB of memory");
}

TEST(WorkerProcess, CountsProcessorTime) {
    WorkerProcess worker(handle);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(worker.call("nap", 400ms).text, "nap!");
    EXPECT_GT(std::chrono::steady_clock::now() - begin, 800ms) << "as on a machine where it seldom runs";
}

TEST(WorkerProcess, TwoAtOnce) {
    WorkerProcess one(handle);
    WorkerProcess two(handle);
    EXPECT_EQ(two.call("b", 10s).text, "b!");
    EXPECT_EQ(one.call("a", 10s).text, "a!");
}

}  // namespace
}  // namespace kf::process
