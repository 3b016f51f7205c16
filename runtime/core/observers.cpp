// What looks at a device's calls.
#include "core/observers.h"

#include <deque>

#include "core/command_log.h"
#include "core/device_state.h"
#include "core/nan_watch.h"

namespace kf::detail {
namespace {

/// Nothing can be read on a stream that is captured into a graph: its calls haven't run yet.
bool can_read_back(const driver::Device& driver) {
    try {
        driver.check_read_back();
        return true;
    } catch (const DeviceError& error) {
        if (error.code() != ErrorCode::stream_captured) throw;
        return false;
    }
}

}  // namespace

void Observers::run(driver::Device& driver, const ObservedCalls& calls, const std::function<void()>& launch) {
    std::deque<NanWatch> watches;
    const bool watches_now = watches_nan() && can_read_back(driver);
    for (const std::shared_ptr<const ObservedCall>& call : calls) {
        const std::uint64_t number = count_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (watches_now) watches.emplace_back(driver, *call, number);
    }
    launch();
    for (const NanWatch& watch : watches) {
        if (!watch.check()) return;  // the calls behind it may be given what isn't finite
    }
}

void run_observed(const CommandLog& log, const DeviceState& on) {
    driver::Device& driver = on.driver();
    std::size_t begin = 0;
    for (const CommandLog::Part& part : log.parts()) {
        const auto issue = [&] { log.replay(driver, begin, part.end); };
        if (Observers* const observers = on.observers()) {
            observers->run(driver, part.calls, issue);
        } else {
            issue();
        }
        begin = part.end;
    }
    log.replay(driver, begin, log.size());
}

}  // namespace kf::detail
