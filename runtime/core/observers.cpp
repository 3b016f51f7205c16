// What looks at a device's calls.
#include "core/observers.h"

#include <deque>
#include <utility>

#include "core/command_log.h"
#include "core/device_state.h"
#include "core/nan_watch.h"
#include "core/profile_state.h"

namespace kf::detail {

bool can_read_back(const driver::Device& driver) {
    try {
        driver.check_read_back();
        return true;
    } catch (const DeviceError& error) {
        if (error.code() != ErrorCode::stream_captured) throw;
        return false;
    }
}

void Observers::profile(std::shared_ptr<ProfileState> profile) {
    const std::lock_guard lock(mutex_);
    profiles_ = profile != nullptr;
    profile_ = std::move(profile);
}

void Observers::run(driver::Device& driver, const ObservedCalls& calls,
                    const std::function<void(LaunchMarks&)>& launch) {
    LaunchMarks marks;
    if (shows_labels_ && !calls.empty()) marks.label = calls.back()->label();
    std::shared_ptr<ProfileState> profile;
    if (profiles()) {
        const std::lock_guard lock(mutex_);
        profile = profile_;
    }
    marks.is_timed = profile != nullptr;
    const NvtxRange range(nvtx_, marks.label.c_str());
    std::deque<NanWatch> watches;
    const bool watches_now = watches_nan() && can_read_back(driver);
    for (const std::shared_ptr<const ObservedCall>& call : calls) {
        const std::uint64_t number = count_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (watches_now) watches.emplace_back(driver, *call, number);
    }
    launch(marks);
    if (profile != nullptr) profile->add(calls, marks);
    for (const NanWatch& watch : watches) {
        if (!watch.check()) return;  // the calls behind it may be given what isn't finite
    }
}

void run_observed(const CommandLog& log, const DeviceState& on) {
    driver::Device& driver = on.driver();
    std::size_t begin = 0;
    for (const CommandLog::Part& part : log.parts()) {
        const auto issue = [&](LaunchMarks& marks) {
            marks.mark_begin(driver);
            log.replay(driver, begin, part.end);
            marks.mark_end(driver);
        };
        if (Observers* const observers = on.observers()) {
            observers->run(driver, part.calls, issue);
        } else {
            log.replay(driver, begin, part.end);
        }
        begin = part.end;
    }
    log.replay(driver, begin, log.size());
}

}  // namespace kf::detail
