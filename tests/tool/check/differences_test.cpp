// Differences find slopes and say how sure they are; right gradients pass and wrong ones don't.
#include "check/differences.h"

#include <gmock/gmock.h>
#include <kf/half.h>

#include <cmath>
#include <functional>
#include <random>

#include "check/trend.h"

namespace kf::check {
namespace {

using Function = std::function<double(double)>;

double round_to(ScalarType scalar, double value) {
    if (scalar == ScalarType::float16) return static_cast<double>(static_cast<float>(half(value)));
    if (scalar == ScalarType::float32) return static_cast<double>(static_cast<float>(value));
    return value;
}

/// One input, one output, both rounded.
Difference slope_of(const Function& function, double x, ScalarType scalar) {
    const Precision precision = precision_of(scalar);
    const auto at = [&](double place) {
        return std::vector<double>{round_to(scalar, function(round_to(scalar, place)))};
    };
    Stencil stencil;
    stencil.centre = at(x);
    double step = precision.step;
    for (std::size_t s = 0; s < step_count; ++s, step /= 2) {
        stencil.plus[s] = at(x + step);
        stencil.minus[s] = at(x - step);
        stencil.forward[s] = round_to(scalar, x + step) - x;
        stencil.backward[s] = x - round_to(scalar, x - step);
    }
    const double weight = 1;
    const double magnitude = std::abs(stencil.centre[0]);
    return differentiate(stencil, {&weight, 1}, {&magnitude, 1}, precision.epsilon);
}

Verdict verdict_of(const Function& function, double gradient, double x, ScalarType scalar) {
    return judge(gradient, slope_of(function, x, scalar), precision_of(scalar), std::abs(gradient));
}

class Differences : public testing::TestWithParam<ScalarType> {};
INSTANTIATE_TEST_SUITE_P(All, Differences,
                         testing::Values(ScalarType::float16, ScalarType::float32, ScalarType::float64),
                         [](const auto& one) { return to_string(one.param); });

struct Smooth {
    const char* name;
    Function function, derivative;
};
const std::vector<Smooth>& smooth_functions() {
    static const std::vector<Smooth> functions = {
        {"x", [](double x) { return x; }, [](double) { return 1.0; }},
        {"3x + 1", [](double x) { return 3 * x + 1; }, [](double) { return 3.0; }},
        {"x^2 + x", [](double x) { return x * x + x; }, [](double x) { return 2 * x + 1; }},
        {"x^3", [](double x) { return x * x * x; }, [](double x) { return 3 * x * x; }},
        {"sin", [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); }},
        {"exp", [](double x) { return std::exp(x); }, [](double x) { return std::exp(x); }},
        {"1/(2 + x)", [](double x) { return 1 / (2 + x); }, [](double x) { return -1 / (2 + x) / (2 + x); }},
        {"sqrt(x + 2)", [](double x) { return std::sqrt(x + 2); },
         [](double x) { return 0.5 / std::sqrt(x + 2); }},
    };
    return functions;
}

TEST_P(Differences, RightGradientsAreNeverWrong) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> number(-1.5, 1.5);
    for (const Smooth& one : smooth_functions()) {
        for (int i = 0; i < 500; ++i) {
            const double x = round_to(GetParam(), number(random));
            const double gradient = round_to(GetParam(), one.derivative(x));
            EXPECT_NE(verdict_of(one.function, gradient, x, GetParam()), Verdict::wrong)
                << one.name << " at " << x;
        }
    }
}

TEST_P(Differences, MostPlacesOfASmoothFunctionCanBeCompared) {
    std::mt19937_64 random(8);
    std::uniform_real_distribution<double> number(0.1, 0.9);
    for (const Smooth& one : smooth_functions()) {
        int right = 0;
        for (int i = 0; i < 500; ++i) {
            const double x = round_to(GetParam(), number(random));
            right += verdict_of(one.function, one.derivative(x), x, GetParam()) == Verdict::right ? 1 : 0;
        }
        EXPECT_GE(right, 300) << one.name;
    }
}

TEST_P(Differences, GradientsThatAreOffByAFewPercentAreWrong) {
    const double off = GetParam() == ScalarType::float16   ? 0.1
                       : GetParam() == ScalarType::float32 ? 0.02
                                                           : 1e-4;
    std::mt19937_64 random(9);
    std::uniform_real_distribution<double> number(0.1, 0.9);
    for (const Smooth& one : smooth_functions()) {
        for (const double factor : {1 + off, 1 - off, -1.0, 0.0, 2.0}) {
            int wrong = 0;
            for (int i = 0; i < 500; ++i) {
                const double x = round_to(GetParam(), number(random));
                const Verdict verdict = verdict_of(one.function, factor * one.derivative(x), x, GetParam());
                EXPECT_FALSE(verdict == Verdict::right && std::abs(factor - 1) > 0.5)
                    << one.name << " at " << x;
                wrong += verdict == Verdict::wrong ? 1 : 0;
            }
            EXPECT_GE(wrong, 250) << one.name << " times " << factor;
        }
    }
}

TEST_P(Differences, BendsAndJumpsAreNotCalledWrong) {
    const double step = precision_of(GetParam()).step;
    const std::vector<Smooth> functions = {
        {"abs", [](double x) { return std::abs(x); }, [](double x) { return x < 0 ? -1.0 : 1.0; }},
        {"max(x, 0)", [](double x) { return std::max(x, 0.0); }, [](double x) { return x > 0 ? 1.0 : 0.0; }},
        {"leaky", [](double x) { return std::max(x, 0.3 * x) + 2 * x; },
         [](double x) { return x > 0 ? 3.0 : 2.3; }},
        {"step", [](double x) { return x > 0 ? 1.0 : 0.0; }, [](double) { return 0.0; }},
        {"floor", [](double x) { return 3 * x + std::floor(x); }, [](double) { return 3.0; }},
    };
    for (const Smooth& one : functions) {
        for (int i = -400; i <= 400; ++i) {
            const double x = round_to(GetParam(), 2 * step * i / 400);
            EXPECT_NE(verdict_of(one.function, one.derivative(x), x, GetParam()), Verdict::wrong)
                << one.name << " at " << x / step << " steps";
        }
    }
}

TEST_P(Differences, WhatTurnsWithinAStepIsNotCompared) {
    const double often = 1000 / precision_of(GetParam()).step;
    int wrong = 0;
    for (int i = 0; i < 400; ++i) {
        const double x = round_to(GetParam(), 0.1 + 0.002 * i);
        const Verdict verdict = verdict_of([&](double at) { return std::sin(often * at); },
                                           often * std::cos(often * x), x, GetParam());
        wrong += verdict == Verdict::wrong ? 1 : 0;
    }
    EXPECT_LE(wrong, 20);
}

/// As those of 20 places whose gradients are all off by a factor.
Trend trend_of(const Smooth& one, double factor, ScalarType scalar, std::mt19937_64& random) {
    std::uniform_real_distribution<double> number(-1.5, 1.5);
    Trend trend(precision_of(scalar));
    double scale = 0;
    for (int i = 0; i < 20; ++i) {
        const double x = round_to(scalar, std::round(number(random) * 256) / 256);
        const double gradient = round_to(scalar, factor * one.derivative(x));
        scale = std::max(scale, std::abs(gradient));
        trend.add(gradient, slope_of(one.function, x, scalar), scale);
    }
    return trend;
}

TEST_P(Differences, TogetherTheyShowSmallFactors) {
    const double off = GetParam() == ScalarType::float16   ? 0.03
                       : GetParam() == ScalarType::float32 ? 0.002
                                                           : 1e-6;
    std::mt19937_64 random(10);
    for (const Smooth& one : smooth_functions()) {
        for (const double factor : {1 + off, 1 - off}) {
            int found = 0;
            for (int i = 0; i < 200; ++i) {
                const Trend trend = trend_of(one, factor, GetParam(), random);
                found += trend.is_off() && (trend.excess() > 0) == (factor > 1) ? 1 : 0;
                EXPECT_FALSE(trend_of(one, 1, GetParam(), random).is_off()) << one.name;
            }
            EXPECT_GE(found, 190) << one.name << " times " << factor;
        }
    }
}

TEST(Difference, WhatNeverMovesHidesNoFactor) {
    Trend trend(precision_of(ScalarType::float32));
    for (int i = 1; i <= 20; ++i)
        trend.add(1.1 * i, {static_cast<double>(i), 1e-6, 1e-6, static_cast<double>(i)}, 20);
    ASSERT_TRUE(trend.is_off());
    trend.add(0, {0, 0, 0, 0}, 0);
    EXPECT_TRUE(trend.is_off());
    EXPECT_NEAR(trend.excess(), 0.1, 1e-6);
}

TEST(Difference, NothingMovesAndThereIsNoGradient) {
    EXPECT_EQ(judge(0, {0, 1e-3, 0, 0}, precision_of(ScalarType::float16), 0), Verdict::right);
    EXPECT_EQ(judge(0, {0, 1e-3, 1e-3, 0}, precision_of(ScalarType::float16), 0), Verdict::unsure)
        << "something moves, to both sides alike";
}

TEST_P(Differences, PartsThatCancelLeaveWhatRoundingDoes) {
    const double epsilon = precision_of(GetParam()).epsilon;
    const Function stays = [](double) { return 0.0; };
    EXPECT_EQ(verdict_of(stays, epsilon, 0.5, GetParam()), Verdict::right);
    EXPECT_EQ(verdict_of(stays, 0.5, 0.5, GetParam()), Verdict::wrong);
    EXPECT_NE(verdict_of([](double x) { return x; }, 1 + 0.5, 0.5, GetParam()), Verdict::right);
}

TEST(Difference, OutputsAreWeighedAndAddedUp) {
    Stencil stencil;
    stencil.centre = {1, 2, 5};
    double step = 0.25;
    for (std::size_t s = 0; s < step_count; ++s, step /= 2) {
        stencil.plus[s] = {1 + 3 * step, 2 - step, 5};
        stencil.minus[s] = {1 - 3 * step, 2 + step, 5};
        stencil.forward[s] = stencil.backward[s] = step;
    }
    const std::vector<double> weights{2, 0.5, 100};
    const std::vector<double> magnitudes{1, 1, 1};
    const Difference difference = differentiate(stencil, weights, magnitudes, 0);
    EXPECT_DOUBLE_EQ(difference.slope, 5.5);
    EXPECT_DOUBLE_EQ(difference.size, 6.5);
    EXPECT_DOUBLE_EQ(difference.uncertainty, 0);
}

TEST(Difference, WhatIsTooSmallToShowDecidesNothing) {
    // 100 + 0.01 x in half: no step changes it.
    const auto function = [](double x) { return 100 + 0.01 * x; };
    const Difference difference = slope_of(function, 0.5, ScalarType::float16);
    EXPECT_EQ(difference.slope, 0);
    EXPECT_EQ(judge(0.01, difference, precision_of(ScalarType::float16), 0.01), Verdict::unsure);
}

TEST(Difference, GradientsThatAreNotFiniteAreWrong) {
    const Difference certain{1, 1e-6, 0, 1};
    EXPECT_EQ(judge(std::nan(""), certain, precision_of(ScalarType::float32), 1), Verdict::wrong);
    EXPECT_EQ(judge(INFINITY, certain, precision_of(ScalarType::float32), 1), Verdict::wrong);
    EXPECT_EQ(judge(1, {std::nan(""), 0, 0, 1}, precision_of(ScalarType::float32), 1), Verdict::unsure);
}

}  // namespace
}  // namespace kf::check
