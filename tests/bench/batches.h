// Times of calls in batches, by the host's clock.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "measure.h"

namespace bench_support {

using Call = std::function<void()>;

/// Microseconds for one of `calls` calls that are waited for together; of each, by turns. Short calls need
/// several batches of the runtime's (64 commands), so that the host records one while the GPU runs another.
inline std::vector<double> batches(const Call& wait, int calls, int rounds, const std::vector<Call>& each) {
    const auto round = [&](const Call& call) {
        for (int i = 0; i < calls; ++i) call();
        wait();
    };
    warm_up([&] {
        for (const Call& call : each) round(call);
    });
    std::vector<std::vector<double>> times(each.size());
    for (int i = 0; i < rounds; ++i) {
        for (std::size_t k = 0; k < each.size(); ++k) {
            times[k].push_back(1e6 * seconds([&] { round(each[k]); }) / calls);
        }
    }
    std::vector<double> medians;
    for (std::vector<double>& one : times) medians.push_back(median(std::move(one)));
    return medians;
}

}  // namespace bench_support
