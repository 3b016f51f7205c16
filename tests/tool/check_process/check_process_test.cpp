// What kfgen makes of programs that answer rightly, wrongly, or not at all.
#include "check_process/check_process.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace kf::gen {
namespace {

namespace fs = std::filesystem;
using check::Message;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckProcess : public testing::Test {
protected:
    CheckProcess() {
        std::string name = (fs::temp_directory_path() / "kf_check_XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~CheckProcess() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& text, fs::perms permissions) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        fs::permissions(folder_ / name, permissions);
    }

    /// A program that sends the messages and then does what a shell is told.
    [[nodiscard]] CheckEnd run(const std::vector<std::string>& messages, const std::string& then = "",
                               const MakeArtifact& make_artifact = {}) const {
        std::string sent;
        for (const std::string& message : messages) {
            const std::uint64_t size = message.size();
            sent.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(message);
        }
        write("sent", sent, fs::perms::owner_read);
        write("kfgen-check", "#!/bin/sh\ncat '" + (folder_ / "sent").string() + "' >&3\n" + then + "\n",
              fs::perms::owner_all);
        return run_check(folder_ / "kfgen-check", "f.kf.json", {}, make_artifact);
    }

    /// The only error of a check that failed, without the folder.
    [[nodiscard]] std::string error_of(const CheckEnd& end) const {
        EXPECT_EQ(end.code, exit_failed);
        EXPECT_EQ(end.errors.size(), 1U);
        if (end.errors.empty()) return {};
        std::string text = format_text(end.errors.front());
        for (std::size_t at = 0; (at = text.find(folder_.string() + "/")) != std::string::npos;)
            text.erase(at, folder_.string().size() + 1);
        return text;
    }

    fs::path folder_;
    const std::string greeting_ = check::encode(Message(check::Greeting{KFGEN_VERSION}));
    const std::string conclusion_ = check::encode(Message(check::Conclusion{"all is right\n", true}));
};

TEST_F(CheckProcess, IsFoundInItsFolder) {
    const auto error = [&] {
        const Outcome<fs::path> found = find_check_program(folder_);
        return found ? std::string() : found.errors().front().id + ": " + found.errors().front().message;
    };
    EXPECT_THAT(error(), HasSubstr("check-program-unusable: it isn't there"));
    write("kfgen-check", "", fs::perms::owner_read);
    EXPECT_EQ(error(), "check-program-unusable: it can't be executed: Permission denied");
    fs::permissions(folder_ / "kfgen-check", fs::perms::owner_all);
    EXPECT_EQ(error(), "");
    EXPECT_EQ(find_check_program(folder_).value(), folder_ / "kfgen-check");
    fs::remove(folder_ / "kfgen-check");
    fs::create_directory(folder_ / "kfgen-check");
    EXPECT_EQ(error(), "check-program-unusable: it is no file");
}

TEST_F(CheckProcess, ConclusionsAreTaken) {
    CheckEnd end = run({greeting_, conclusion_});
    EXPECT_EQ(end.code, exit_done);
    EXPECT_EQ(end.report, "all is right\n");
    EXPECT_THAT(end.errors, IsEmpty());
    end = run({greeting_, check::encode(Message(check::Conclusion{"wrong\n", false}))});
    EXPECT_EQ(end.code, exit_input);
    EXPECT_EQ(end.report, "wrong\n");
}

TEST_F(CheckProcess, RefusalsAreErrorsOfTheInput) {
    for (const bool of_device : {false, true}) {
        const CheckEnd end =
            run({greeting_, check::encode(Message(check::Refusal{"no-device", "none", of_device}))});
        EXPECT_EQ(end.code, of_device ? exit_failed : exit_input);
        EXPECT_EQ(end.report, "");
        ASSERT_EQ(end.errors.size(), 1U);
        EXPECT_EQ(format_text(end.errors.front()), "f.kf.json: error: none [no-device]");
    }
}

TEST_F(CheckProcess, QuestionsAreAnswered) {
    std::vector<check::Question> asked;
    const auto answer = [&](const check::Question& question) {
        asked.push_back(question);
        return check::Answer{{}, "no"};
    };
    // The task and the answer lie in the socket, where nobody reads them.
    const CheckEnd end =
        run({greeting_, check::encode(Message(check::Question{1, 2, "f"})), conclusion_}, "", answer);
    EXPECT_EQ(end.code, exit_done);
    EXPECT_THAT(asked, ElementsAre(check::Question{1, 2, "f"}));
}

TEST_F(CheckProcess, CrashesAreErrors) {
    const std::string step = check::encode(Message(check::Step{"checking f(x: float)"}));
    EXPECT_EQ(
        error_of(run({greeting_}, "kill -SEGV $$")),
        "f.kf.json: error: 'kfgen-check' ended by signal 11 (Segmentation fault) [check-program-failed]");
    EXPECT_EQ(error_of(run({greeting_, step}, "kill -ABRT $$")),
              "f.kf.json: error: 'kfgen-check' ended by signal 6 (Aborted) while checking f(x: float) "
              "[check-program-failed]");
    EXPECT_EQ(error_of(run({}, "exit 7")),
              "f.kf.json: error: 'kfgen-check' ended by exit status 7 [check-program-failed]");
    // What it found is printed all the same.
    const CheckEnd late = run({greeting_, conclusion_}, "kill -SEGV $$");
    EXPECT_EQ(late.report, "all is right\n");
    EXPECT_THAT(error_of(late), HasSubstr("signal 11 (Segmentation fault) while closing the device"));
}

TEST_F(CheckProcess, OtherProgramsAreErrors) {
    EXPECT_EQ(error_of(run({check::encode(Message(check::Greeting{"0.2.0", 9}))}, "exec sleep 1000")),
              "kfgen-check: error: it is of version 0.2.0 (messages 9), and this kfgen of " KFGEN_VERSION
              " (messages 1) "
              "[check-program-unusable]");
    EXPECT_THAT(error_of(run({"what"}, "exec sleep 1000")), HasSubstr("sent what is no message"));
    EXPECT_THAT(error_of(run({}, "echo hello, it is me >&3")), HasSubstr("ended by "));
    write("kfgen-check", "no program", fs::perms::owner_all);
    EXPECT_EQ(error_of(run_check(folder_ / "kfgen-check", "f.kf.json", {}, {})),
              "kfgen-check: error: it can't be executed: Exec format error [check-program-unusable]");
}

TEST_F(CheckProcess, FaultsAreInternalErrors) {
    EXPECT_THROW((void)run({greeting_, check::encode(Message(check::Fault{"vector"}))}), std::runtime_error);
}

}  // namespace
}  // namespace kf::gen
