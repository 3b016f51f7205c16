// Prepared calls and graphs through generated headers, on each device: values that change, memory that they
// own, and what is refused.
#include <kf/graph.h>

#include <limits>
#include <optional>
#include <thread>

#include "globals.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float prepared_poison = 77.F;

/// a x² + b x + c, for x = 0, 1, 2 …
std::vector<float> parabola(std::int64_t size, float a, float b, float c) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < size; ++i) {
        const auto x = static_cast<float>(i);
        values.push_back(a * x * x + b * x + c);
    }
    return values;
}

/// Two elements of poison around `inside`.
std::vector<float> poisoned(const std::vector<float>& inside) {
    std::vector<float> all(inside.size() + 4, prepared_poison);
    std::copy(inside.begin(), inside.end(), all.begin() + 2);
    return all;
}

class PreparedTest : public ::testing::TestWithParam<std::string> {
protected:
    Tensor<float, 1> counting(std::int64_t size) {
        return device_.tensor<float>(std::span<const float>(parabola(size, 0, 1, 0)), {size});
    }
    /// `size` elements with poison before and behind them.
    Tensor<float, 1> guarded(std::int64_t size) {
        return device_.tensor<float>(
            poisoned(std::vector<float>(static_cast<std::size_t>(size), prepared_poison)));
    }

    Device device_ = Device::open(GetParam());
    devices::Module module_{device_};
    globals::Module globals_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PreparedTest);
INSTANTIATE_TEST_SUITE_P(Devices, PreparedTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

std::string refusal(const std::function<void()>& call, ErrorCode code) {
    const Result<void> result = attempt(call);
    if (result.ok()) return "nothing was refused";
    EXPECT_EQ(result.error().code(), code) << result.error().what();
    return result.error().what();
}

// As in a call, what an argument is made of may stand in braces alone.
TEST_P(PreparedTest, TakesWhatCallsTake) {
    const auto called = module_.index({3, 5});
    const auto prepared = module_.index.prepare({3, 5});
    prepared();
    EXPECT_EQ(prepared.result().to_vector(), called.to_vector());
    EXPECT_FALSE(module_.index.try_prepare({-1, 5}).ok());
    EXPECT_TRUE(module_.index.try_prepare({0, 5}).ok());
}

TEST_P(PreparedTest, RunsAgainWithOtherValues) {
    for (const std::int64_t size : {0, 1, 33, 4097}) {
        const auto x = counting(size);
        const auto whole = guarded(size);
        const auto prepared = module_.polynomial.prepare(1, 2, 3, x, kf::out(whole.slice(0, 2, 2 + size)));
        EXPECT_THAT(whole.to_vector(), Each(prepared_poison)) << "it ran when it was prepared";
        prepared();
        EXPECT_EQ(whole.to_vector(), poisoned(parabola(size, 1, 2, 3)));
        prepared.set("a", 0);
        prepared.set("c", 0.5F);
        prepared();
        EXPECT_EQ(whole.to_vector(), poisoned(parabola(size, 0, 2, 0.5F)));
    }
}

TEST_P(PreparedTest, OwnsWhatItMakesAndUses) {
    auto x = std::optional(counting(4097));
    const auto prepared = module_.polynomial.prepare(1, 0, 0, *x);
    x.reset();
    const auto other = device_.zeros<float>({4097});  // would get the memory
    prepared();
    const auto first = prepared.result().to_vector();
    EXPECT_EQ(first, parabola(4097, 1, 0, 0));
    prepared.set("b", 1);
    prepared();
    EXPECT_EQ(prepared.result().to_vector(), parabola(4097, 1, 1, 0));
    EXPECT_THAT(other.to_vector(), Each(0));
    auto kept = std::optional(module_.polynomial.prepare(1, 0, 0, counting(33)));
    const auto result = kept->result();
    (*kept)();
    kept.reset();
    EXPECT_EQ(result.to_vector(), parabola(33, 1, 0, 0));
}

TEST_P(PreparedTest, GradientsAccumulateFromRunToRun) {
    const auto x = counting(33).with_grads();
    const auto y = module_.polynomial(1, 2, 3, x);
    const auto backward = module_.polynomial.backward.prepare(1, 2, 3, x, y);
    backward();
    backward();
    backward.set("b", 10);
    backward();
    EXPECT_EQ(x.grad().to_vector(), parabola(33, 0, 6, 14));
    for (const bool deterministic : {false, true}) {
        const auto a = device_.tensor<float>({1}).with_grads();
        const auto wide = device_.ones<float>({4097}).with_grads();
        const auto z = module_.polynomial(a, a, a, wide);
        const auto summed =
            module_.polynomial.options({.deterministic = deterministic}).backward.prepare(a, a, a, wide, z);
        for (int run = 1; run <= 3; ++run) {
            summed();
            EXPECT_THAT(a.grad().to_vector(), ElementsAre(3 * 4097 * run));
            EXPECT_THAT(wide.grad().to_vector(), Each(3 * run));
        }
    }
}

TEST_P(PreparedTest, TemporaryMemoryIsItsOwn) {
    // Sums of halves are kept in float beside them.
    const auto x = device_.tensor<half>({half(2.F)}).with_grads();
    const auto y = device_.ones<half>({1024}).with_grads();
    const auto z = module_.product(x, y);
    const auto first = module_.product.backward.prepare(x, y, z);
    const auto second = module_.product.backward.prepare(x, y, z);
    Graph graph(device_);
    first.append_to(graph.encoder());
    second.append_to(graph.encoder());
    first();
    module_.product.backward(x, y, z);
    second();
    graph.replay();
    graph.replay();
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(half(7 * 1024.F)));
    EXPECT_THAT(y.grad().to_vector(), Each(half(14.F)));
}

TEST_P(PreparedTest, FusedPassesRunAgain) {
    const auto x = counting(33);
    const auto near = device_.empty<bool>({33});
    const auto line = device_.zeros<float>({33});
    const auto a = device_.tensor<float>({1}).with_grads();
    const auto prepared = module_.line_error.fused.prepare(a, 0, x, line, kf::out(near));
    prepared();
    prepared();
    EXPECT_THAT(a.grad().to_vector(), ElementsAre(2 * 2 * 11440));  // of 2 x² each
    EXPECT_EQ(prepared.result().to_vector(), parabola(33, 1, 0, 0));
}

TEST_P(PreparedTest, GeneratorsAreSet) {
    const auto numbers = module_.lattice.prepare(Grid<2>{{2, 3}, {0, 0}, {1, 1}});
    numbers();
    EXPECT_EQ(numbers.result().to_vector(), module_.lattice(Grid<2>{{2, 3}}).to_vector());
    const Grid<2> other{{2, 3}, {5, -1}, {2, 3}};
    numbers.set("at", other);
    numbers();
    EXPECT_EQ(numbers.result().to_vector(), module_.lattice(other).to_vector());
    EXPECT_THAT(
        refusal(
            [&] {
                numbers.set("at", Grid<2>{{3, 3}});
            },
            ErrorCode::shape_mismatch),
        HasSubstr("lattice: argument 'at': set: it has shape [3, 3], and the call was prepared for [2, 3]"));
    EXPECT_THAT(refusal([&] { numbers.set("at", WangHash{}); }, ErrorCode::type_mismatch),
                HasSubstr("found wang_hash"));
    const auto out = device_.empty<uint2>({33});
    const auto hashed = module_.hashed.prepare(WangHash{3}, kf::out(out));
    hashed();
    const auto before = out.to_vector();
    hashed.set("hash", WangHash{4});
    hashed();
    const auto again = device_.empty<uint2>({33});
    module_.hashed(WangHash{4}, kf::out(again));
    EXPECT_EQ(out.to_vector(), again.to_vector());
    EXPECT_NE(out.to_vector(), before);
    EXPECT_THAT(refusal(
                    [&] {
                        hashed.set("hash", WangHash{4, 2000});
                    },
                    ErrorCode::value_range),
                HasSubstr("warmup 2000 is above 1024"));
}

TEST_P(PreparedTest, GlobalsAreSet) {
    globals::Globals values;
    values.look_gain = 10.F;
    const auto x = device_.tensor<float>({1, 2, 3});
    const auto prepared = globals_.gained.set(values).prepare(x);
    prepared();
    EXPECT_THAT(prepared.result().to_vector(), ElementsAre(11, 21, 31));
    prepared.set("look.gain", 2.F);
    prepared();
    EXPECT_THAT(prepared.result().to_vector(), ElementsAre(3, 5, 7));
}

TEST_P(PreparedTest, HooksRunOnceAndWhatTheyRecordEachTime) {
    const auto x = device_.tensor<float>({0, 0});
    int runs = 0;
    const auto hooked = module_.advance.hook([&](HookContext& context) {
        ++runs;
        module_.advance.append_to(context.encoder(), x, 10.F);
    });
    const auto prepared = hooked.prepare(x, 1.F);
    prepared();
    prepared.set("step", 2.F);
    prepared();
    EXPECT_EQ(runs, 1);
    EXPECT_THAT(x.to_vector(), Each(23));
}

TEST_P(PreparedTest, RefusesByNameAndLeavesValuesAsTheyWere) {
    const auto x = counting(4);
    const auto prepared = module_.polynomial.prepare(1, 2, 3, x);
    EXPECT_THAT(refusal([&] { prepared.set("d", 1); }, ErrorCode::unknown_name),
                HasSubstr("polynomial: set: no value 'd'; it has 'a' and 'b' and 'c'"));
    EXPECT_THAT(refusal([&] { prepared.set("x", 1); }, ErrorCode::type_mismatch),
                HasSubstr("argument 'x': set: what it reads in memory is settled when the call is prepared"));
    EXPECT_THAT(refusal([&] { prepared.set("result", 1); }, ErrorCode::type_mismatch),
                HasSubstr("an output"));
    EXPECT_THAT(refusal(
                    [&] {
                        prepared.set("a", float2{1, 2});
                    },
                    ErrorCode::type_mismatch),
                HasSubstr("found float2"));
    EXPECT_THAT(refusal([&] { prepared.set("a", true); }, ErrorCode::type_mismatch),
                HasSubstr("found a bool"));
    EXPECT_THAT(refusal([&] { prepared.set("a", 1e300); }, ErrorCode::value_range),
                HasSubstr("the number given doesn't fit float"));
    EXPECT_FALSE(prepared.try_set("a", 1e300).ok());
    prepared();
    EXPECT_EQ(prepared.result().to_vector(), parabola(4, 1, 2, 3));
    EXPECT_THAT(refusal([&] { PreparedCall()(); }, ErrorCode::missing_argument), HasSubstr("prepare()"));
    Encoder gone = device_.encoder();
    gone.submit();
    EXPECT_THAT(refusal([&] { prepared.append_to(gone); }, ErrorCode::encoder_submitted),
                HasSubstr("submitted"));
}

TEST_P(PreparedTest, GoesIntoEncoders) {
    const auto x = device_.tensor<float>({0, 0});
    const auto prepared = module_.advance.prepare(x, 1.F);
    Encoder encoder = device_.encoder();
    prepared.append_to(encoder);
    prepared.set("step", 10.F);
    prepared.append_to(encoder);
    EXPECT_THAT(x.to_vector(), Each(0));
    encoder.submit();
    EXPECT_THAT(x.to_vector(), Each(11));
}

TEST_P(PreparedTest, ThreadsShareIt) {
    const auto x = device_.zeros<float>({33});
    const auto prepared = module_.advance.prepare(x, 1.F);
    Graph graph(device_);
    prepared.append_to(graph.encoder());
    graph.replay();
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int run = 0; run < 25; ++run) {
                prepared();
                graph.replay();
                prepared.set("step", 1.F);
                graph.set("step", 1.F);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(x.to_vector(), Each(201));
}

TEST_P(PreparedTest, AGraphRunsItsCallsInOrder) {
    for (const std::int64_t size : {0, 1, 33, 4097}) {
        const auto x = counting(size);
        const auto whole = guarded(size);
        const auto out = whole.slice(0, 2, 2 + size);
        Graph graph(device_);
        const auto y = module_.polynomial.append_to(graph.encoder(), 0, 2, 0, x);
        module_.polynomial.append_to(graph.encoder(), 0, 1, 5, y, kf::out(out));
        module_.advance.append_to(graph.encoder(), out, 100.F);
        const PreparedCall last = graph.node();
        EXPECT_EQ(graph.size(), 3U);
        EXPECT_THAT(whole.to_vector(), Each(prepared_poison)) << "it ran when it was recorded";
        graph.replay();
        EXPECT_EQ(whole.to_vector(), poisoned(parabola(size, 0, 2, 105)));
        // What is issued before and after is in order with it.
        module_.advance(x, 1.F);
        graph.replay();
        module_.advance(out, 1000.F);
        EXPECT_EQ(whole.to_vector(), poisoned(parabola(size, 0, 2, 1107)));
        // Of all calls, and of one.
        graph.set("b", 3);
        last.set("step", 0);
        graph.replay();
        EXPECT_EQ(whole.to_vector(), poisoned(parabola(size, 0, 9, 14)));
    }
}

TEST_P(PreparedTest, AGraphKeepsItsMemoryAndItsOwnValues) {
    Graph graph(device_);
    const auto sum = device_.zeros<float>({33});
    {
        const auto x = counting(33);
        const auto prepared = module_.polynomial.prepare(0, 1, 0, x, kf::out(sum));
        prepared.append_to(graph.encoder());
        prepared.set("b", 50);
        module_.advance.append_to(graph.encoder(), sum, 1.F);
        prepared.append_to(graph.encoder());
        module_.advance.append_to(graph.encoder(), sum, 2.F);
    }
    const auto other = device_.zeros<float>({33});
    graph.replay();
    EXPECT_EQ(sum.to_vector(), parabola(33, 0, 50, 2));
    graph.set("step", 7);
    graph.replay();
    graph.replay();
    EXPECT_EQ(sum.to_vector(), parabola(33, 0, 50, 7));
    EXPECT_THAT(other.to_vector(), Each(0));
}

TEST_P(PreparedTest, ManyReplaysAndChangesOfAGraph) {
    const auto x = device_.zeros<float>({33});
    const auto y = device_.zeros<float>({33});
    Graph graph(device_);
    for (int i = 0; i < 10; ++i) {
        module_.advance.append_to(graph.encoder(), x, 1.F);
        module_.advance.append_to(graph.encoder(), y, 2.F);
    }
    const PreparedCall last = graph.node();
    for (int run = 0; run < 100; ++run) {
        last.set("step", static_cast<float>(run));
        graph.replay();
    }
    EXPECT_THAT(x.to_vector(), Each(1000));
    EXPECT_THAT(y.to_vector(), Each(100 * 18 + 4950));
}

TEST_P(PreparedTest, AGraphGoesWhileItRuns) {
    const auto x = device_.zeros<float>({4097});
    for (int i = 0; i < 20; ++i) {
        Graph graph(device_);
        const auto y = module_.polynomial.append_to(graph.encoder(), 0, 0, 1, x);
        const auto z = module_.polynomial.append_to(graph.encoder(), 0, 1, 1, y);
        module_.polynomial.append_to(graph.encoder(), 0, 1, static_cast<float>(i), z, kf::out(x));
        graph.replay();
    }
    EXPECT_THAT(x.to_vector(), Each(21));
}

TEST_P(PreparedTest, GraphsRefuseByName) {
    const auto x = counting(4);
    Graph graph(device_);
    EXPECT_THAT(refusal([&] { (void)graph.node(); }, ErrorCode::missing_argument),
                HasSubstr("no call is recorded"));
    EXPECT_THAT(refusal([&] { graph.encoder().submit(); }, ErrorCode::graph_context), HasSubstr("replay()"));
    // What is refused leaves nothing behind.
    EXPECT_FALSE(module_.polynomial.try_append_to(graph.encoder(), 1, 2, 3, x, kf::out(counting(5))).ok());
    EXPECT_EQ(graph.size(), 0U);
    const auto y = module_.polynomial.append_to(graph.encoder(), 1, 2, 3, x);
    EXPECT_THAT(refusal([&] { graph.set("step", 1); }, ErrorCode::unknown_name),
                HasSubstr("graph: set: no call has a value 'step'; its calls have:\n  polynomial: 'a'"));
    graph.replay();
    EXPECT_EQ(y.to_vector(), parabola(4, 1, 2, 3));
    EXPECT_THAT(refusal([&] { (void)module_.polynomial.append_to(graph.encoder(), 1, 2, 3, x); },
                        ErrorCode::graph_context),
                HasSubstr("the graph is recorded"));
    Graph empty(device_);
    empty.replay();
}

TEST_P(PreparedTest, CallsOfOtherDevicesAreRefused) {
    const Device again = Device::open(GetParam());
    const auto prepared = module_.polynomial.prepare(1, 2, 3, counting(4));
    Encoder encoder = again.encoder();
    EXPECT_THAT(refusal([&] { prepared.append_to(encoder); }, ErrorCode::device_mismatch),
                HasSubstr("polynomial: the encoder is of another device"));
    EXPECT_THAT(refusal([&] { prepared(again); }, ErrorCode::device_mismatch), HasSubstr("another device"));
    Graph graph(device_);
    EXPECT_THAT(refusal([&] { graph.replay(again); }, ErrorCode::device_mismatch),
                HasSubstr("another device"));
}

}  // namespace
}  // namespace kf::test
