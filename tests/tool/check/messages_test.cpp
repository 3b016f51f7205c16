// Messages between kfgen and kfgen-check arrive as they were sent, and nothing else is taken for one.
#include "check/messages.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace kf::check {
namespace {

std::vector<std::byte> made_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

class Messages : public testing::TestWithParam<Message> {};

TEST_P(Messages, Arrive) { EXPECT_EQ(decode_message(encode(GetParam())), GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, Messages,
                         testing::Values(Message(Greeting{"1.2.3", 7}), Message(Step{"opening the device"}),
                                         Message(Question{1, 3, "f"}), Message(Conclusion{"text\n", true}),
                                         Message(Refusal{"no-device", "none", true}), Message(Fault{"why"})));

TEST(TaskMessage, Arrives) {
    Task task;
    task.artifact = made_of({0, 255, 7});
    task.settings = {"vulkan:0", ~std::uint64_t{0}, std::pair{-0.1, 1e300}, {{"w", {3, 4}}}, {"f", "g.x"}};
    task.json = true;
    task.reasons = {{0, 1, 2, "no_diff"}};
    task.differences = {made_of({1}), {}, made_of({2, 3})};
    task.loops = {{"m.slang", 12, "f", "n + 1"}};
    task.not_compared = {"bwd_diff(f)"};
    EXPECT_EQ(decode_task(encode(task)), task);
    EXPECT_EQ(decode_task(encode(Task())), Task());
}

TEST(AnswerMessage, Arrives) {
    EXPECT_EQ(decode_answer(encode(Answer{made_of({1, 2}), ""})), (Answer{made_of({1, 2}), ""}));
    EXPECT_EQ(decode_answer(encode(Answer{{}, "refused"})), (Answer{{}, "refused"}));
}

/// kfgen says which version it met: so its place stays what it is.
TEST(GreetingMessage, IsReadInAllVersions) {
    // {"messages": 9, "version": "2.0.0", "else": null}
    const std::string later(
        "\xa3\x68messages\x09\x67version\x65"
        "2.0.0\x64"
        "else\xf6");
    EXPECT_EQ(decode_message(later), Message(Greeting{"2.0.0", 9}));
}

TEST(NoMessage, IsRefused) {
    EXPECT_THROW(decode_message(""), std::runtime_error);
    EXPECT_THROW(decode_message("text"), std::runtime_error);
    EXPECT_THROW(decode_message(encode(Answer())), std::runtime_error);
    EXPECT_THROW(decode_message(encode(Message(Step{"x"})).substr(0, 5)), std::runtime_error);
    EXPECT_THROW(decode_task(encode(Answer())), std::runtime_error);
    EXPECT_THROW(decode_answer(encode(Message(Fault{"x"}))), std::runtime_error);
}

}  // namespace
}  // namespace kf::check
