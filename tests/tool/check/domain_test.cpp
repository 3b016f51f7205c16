// Searches in domains of several forms, without a device.
#include "check/domain.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace kf::check {
namespace {

using Values = std::vector<std::vector<double>>;

/// A search for n numbers of each of two inputs, element by element.
template <class Function>
std::optional<std::vector<Interval>> search(std::size_t n, Function function, Values* last = nullptr,
                                            std::size_t* calls = nullptr, std::uint64_t seed = 1,
                                            Interval start = {-1.5, 1.5}) {
    DomainQuestion question;
    question.counts = {n, n};
    question.outputs = n;
    question.finite = [&](const Values& values) {
        if (last != nullptr) *last = values;
        if (calls != nullptr) ++*calls;
        std::size_t finite = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (std::isfinite(function(values[0][i], values[1][i]))) ++finite;
        }
        return finite;
    };
    std::mt19937_64 random(seed);
    return search_domain(question, {start, start}, random);
}

TEST(Domain, IsWhereItStartsIfItCan) {
    std::size_t calls = 0;
    const auto found = search(
        5, [](double x, double y) { return x * y; }, nullptr, &calls);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, (std::vector<Interval>{{-1.5, 1.5}, {-1.5, 1.5}}));
    EXPECT_EQ(calls, 1U);
}

TEST(Domain, IsFoundForEachInput) {
    const std::vector<double (*)(double, double)> functions = {
        [](double x, double y) { return std::log(x - 20) + std::sqrt(1 - y * y); },
        [](double x, double y) { return std::log(x - y - 2); },
        [](double x, double y) { return std::acosh(x) * std::log(-y); },
        [](double x, double y) { return std::sqrt(-x - 200) * std::asin(y); },
        [](double x, double y) { return std::sqrt(1 - x * x - y * y); },
        [](double x, double y) { return std::log(2 - std::abs(x - 7)) * y; },
    };
    for (std::size_t f = 0; f < functions.size(); ++f) {
        for (const std::size_t n : {1U, 5U}) {
            int found = 0;
            constexpr int seeds = 20;
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                Values last;
                std::size_t calls = 0;
                const auto ranges = search(n, functions[f], &last, &calls, seed);
                EXPECT_LE(calls, most_evaluations);
                if (!ranges) continue;
                ++found;
                for (std::size_t i = 0; i < n; ++i) {
                    EXPECT_TRUE(std::isfinite(functions[f](last[0][i], last[1][i]))) << f;
                    for (std::size_t k = 0; k < 2; ++k) {
                        EXPECT_GE(last[k][i], (*ranges)[k].first);
                        EXPECT_LE(last[k][i], (*ranges)[k].second);
                    }
                }
            }
            EXPECT_GE(found, seeds - 4) << f << ", " << n;
        }
    }
}

TEST(Domain, BeginsWithWhatIsAsked) {
    Values last;
    const auto near = search(5, [](double x, double) { return std::sqrt(0.01 - std::abs(x - 77)); }, &last,
                             nullptr, 1, {76.995, 77.005});
    ASSERT_TRUE(near);
    EXPECT_EQ(near->front(), Interval(76.995, 77.005));
}

TEST(Domain, IsGivenUpIfThereIsNone) {
    std::size_t calls = 0;
    EXPECT_FALSE(search(
        5, [](double, double) { return NAN; }, nullptr, &calls));
    EXPECT_EQ(calls, most_evaluations);
    DomainQuestion question;
    question.outputs = 1;
    std::mt19937_64 random(1);
    EXPECT_FALSE(search_domain(question, {}, random));
}

}  // namespace
}  // namespace kf::check
