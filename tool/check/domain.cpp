// A random walk over the inputs' ranges, uphill in the number of finite outputs.
#include "check/domain.h"

#include <array>

namespace kf::check {
namespace {

/// Where functions are often defined: around 0, between 0 and 1, above 1, and each sign at several sizes.
constexpr std::array<Interval, 14> usual{{{-1.5, 1.5},
                                          {0.1, 0.9},
                                          {1.1, 3},
                                          {-0.9, -0.1},
                                          {3, 10},
                                          {0.01, 0.1},
                                          {-3, -1.1},
                                          {10, 100},
                                          {-0.1, -0.01},
                                          {-10, -3},
                                          {100, 1000},
                                          {-100, -10},
                                          {-0.5, 0.5},
                                          {-1000, -100}}};

class Search {
public:
    Search(const DomainQuestion& question, const std::vector<Interval>& start, std::mt19937_64& random)
        : question_(question), random_(random), ranges_(start) {
        for (const std::size_t count : question.counts) values_.emplace_back(count);
    }

    std::optional<std::vector<Interval>> run() {
        constexpr int draws = 4;
        for (int draw = 0; draw < draws; ++draw) {
            if (try_ranges(ranges_)) return ranges_;
        }
        for (const Interval& range : usual) {
            if (try_ranges(std::vector<Interval>(ranges_.size(), range))) return ranges_;
        }
        while (evaluations_ < most_evaluations) {
            if (try_change(random_() % ranges_.size())) return ranges_;
        }
        return std::nullopt;
    }

private:
    double draw(const Interval& range) {
        return std::uniform_real_distribution<double>(range.first, range.second)(random_);
    }

    /// One half of a range, which may begin anywhere in it.
    Interval half(const Interval& range) {
        const double width = (range.second - range.first) / 2;
        const double low = draw({range.first, range.first + width});
        return {low, low + width};
    }

    bool try_ranges(const std::vector<Interval>& ranges) {
        std::vector<std::vector<double>> values = values_;
        for (std::size_t i = 0; i < values.size(); ++i) {
            for (double& value : values[i]) value = draw(ranges[i]);
        }
        return is_found(ranges, std::move(values));
    }

    /// One input has another range, or a part of its own, or some other numbers.
    bool try_change(std::size_t input) {
        std::vector<Interval> ranges = ranges_;
        std::vector<std::vector<double>> values = values_;
        const std::size_t way = random_() % 3;
        const bool some = way == 0;
        if (way == 1 || (way == 2 && best_ == 0)) ranges[input] = usual[random_() % usual.size()];
        if (way == 2 && best_ > 0) ranges[input] = half(ranges[input]);
        for (double& value : values[input]) {
            if (!some || random_() % 4 == 0) value = draw(ranges[input]);
        }
        return is_found(ranges, std::move(values));
    }

    /// Keeps what is as good as the best. Returns whether all outputs are finite.
    bool is_found(const std::vector<Interval>& ranges, std::vector<std::vector<double>> values) {
        ++evaluations_;
        const std::size_t finite = question_.finite(values);
        if (finite < best_) return false;
        best_ = finite;
        ranges_ = ranges;
        values_ = std::move(values);
        return finite == question_.outputs;
    }

    const DomainQuestion& question_;
    std::mt19937_64& random_;
    std::vector<Interval> ranges_;             ///< the best ones
    std::vector<std::vector<double>> values_;  ///< the best ones
    std::size_t best_ = 0;                     ///< how many outputs are finite with these
    std::size_t evaluations_ = 0;
};

}  // namespace

std::optional<std::vector<Interval>> search_domain(const DomainQuestion& question,
                                                   const std::vector<Interval>& start,
                                                   std::mt19937_64& random) {
    if (start.empty()) return std::nullopt;
    return Search(question, start, random).run();
}

}  // namespace kf::check
