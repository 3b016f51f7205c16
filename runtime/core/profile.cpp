// How long calls take on the GPU.
#include <kf/profile.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "core/pass_text.h"
#include "core/profile_state.h"

namespace kf {
namespace detail {
namespace {

/// Calls whose times are read at the latest then: each holds on to queries, or events, of the driver's.
constexpr std::size_t most_pending = 8192;

}  // namespace

ProfileState::ProfileState(std::shared_ptr<DeviceState> device)
    : device_(std::move(device)), origin_(device_->driver().mark_time()) {
    if (origin_ == nullptr) {
        const DeviceInfo& info = device_->info();
        throw DeviceError(ErrorCode::missing_feature,
                          "profile: " + info.id + " (" + info.name + ") has no timestamps");
    }
}

void ProfileState::add(const ObservedCalls& calls, const LaunchMarks& marks) {
    if (marks.begin == nullptr || marks.end == nullptr) return;
    const std::lock_guard lock(mutex_);
    ProfiledCall& call = calls_.emplace_back();
    call.function = calls.back()->function_name();
    call.pass = calls.back()->pass_name();
    for (const std::shared_ptr<const ObservedCall>& one : calls) call.bytes += one->bytes();
    pending_.push_back({calls_.size() - 1, marks.begin, marks.end});
    if (pending_.size() == most_pending) settle();
}

void ProfileState::settle() {
    constexpr double nanosecond = 1e-9;
    driver::Device& driver = device_->driver();
    driver.wait();
    for (const Pending& pending : pending_) {
        ProfiledCall& call = calls_[pending.call];
        call.start = driver.nanoseconds(*origin_, *pending.begin) * nanosecond;
        call.duration = driver.nanoseconds(*pending.begin, *pending.end) * nanosecond;
    }
    pending_.clear();
}

void ProfileState::stop() {
    if (!std::exchange(is_on_, false)) return;
    device_->observe([](Observers& observers) { observers.profile(nullptr); });
    const std::lock_guard lock(mutex_);
    settle();
}

}  // namespace detail

namespace {

/// What the calls of one function and pass took.
struct Row {
    std::string function;
    std::string pass;
    std::size_t calls = 0;
    double seconds = 0;
    double bytes = 0;
};

std::vector<Row> rows_of(const std::vector<ProfiledCall>& calls) {
    std::map<std::pair<std::string, std::string>, Row> sums;
    for (const ProfiledCall& call : calls) {
        Row& row = sums[{call.function, call.pass}];
        row.function = call.function;
        row.pass = call.pass;
        ++row.calls;
        row.seconds += call.duration;
        row.bytes += static_cast<double>(call.bytes);
    }
    std::vector<Row> rows;
    for (auto& [key, row] : sums) rows.push_back(std::move(row));
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
    return rows;
}

std::string fixed(double value, int digits) {
    std::array<char, 64> text{};
    (void)std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

/// A string of JSON.
std::string json_text(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

std::string trace_of(const std::vector<ProfiledCall>& calls, const DeviceInfo& device) {
    constexpr double microseconds = 1e6;
    std::string text =
        "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{\"ph\": \"M\", \"pid\": 0, \"name\": "
        "\"process_name\", \"args\": {\"name\": " +
        json_text(device.id + " (" + device.name + ")") + "}}";
    for (const ProfiledCall& call : calls) {
        const std::string name = detail::pass_of(call.function, call.pass);
        text += ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"name\": " + json_text(name) +
                ", \"cat\": " + json_text(call.pass) + ", \"ts\": " + fixed(call.start * microseconds, 3) +
                ", \"dur\": " + fixed(call.duration * microseconds, 3) +
                ", \"args\": {\"bytes\": " + std::to_string(call.bytes) + "}}";
    }
    return text + "\n]}\n";
}

}  // namespace

Profile::Profile(const Device& device) {
    if (!device) throw ArgumentError(ErrorCode::missing_argument, "profile: the device is null");
    const std::shared_ptr<detail::DeviceState>& given = device.state();
    state_ =
        std::make_shared<detail::ProfileState>(given->root_of_stream() ? given->root_of_stream() : given);
    given->observe([&](detail::Observers& observers) {
        if (observers.profiles()) {
            throw ArgumentError(ErrorCode::profile_context, "profile: another profile of the device is on");
        }
        observers.profile(state_);
    });
}

Profile::~Profile() {
    try {
        if (state_ != nullptr) state_->stop();
    } catch (...) {  // a destructor has nobody to tell
    }
}

Profile::Profile(Profile&& other) noexcept = default;
Profile& Profile::operator=(Profile&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

void Profile::stop() {
    if (state_ == nullptr) detail::throw_null("the profile");
    state_->stop();
}

const std::vector<ProfiledCall>& Profile::calls() {
    stop();
    return state_->calls();
}

std::string Profile::table() {
    std::vector<std::array<std::string, 7>> lines{
        {"function", "pass", "calls", "total ms", "us a call", "MB", "GB/s"}};
    for (const Row& row : rows_of(calls())) {
        const double rate = row.seconds > 0 ? row.bytes / row.seconds : 0;
        lines.push_back({row.function, row.pass, std::to_string(row.calls), fixed(row.seconds * 1e3, 3),
                         fixed(row.seconds * 1e6 / static_cast<double>(row.calls), 1),
                         fixed(row.bytes * 1e-6, 1), fixed(rate * 1e-9, 1)});
    }
    std::array<std::size_t, 7> widths{};
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i)
            widths.at(i) = std::max(widths.at(i), line.at(i).size());
    }
    std::string text;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            const std::string space(widths.at(i) - line.at(i).size(), ' ');
            text += (i == 0 ? "" : "  ") + (i < 2 ? line.at(i) + space : space + line.at(i));
        }
        text += '\n';
    }
    return text;
}

void Profile::write_trace(const std::string& path) {
    stop();
    const std::string text = trace_of(state_->calls(), state_->device().info());
    std::FILE* const file = std::fopen(path.c_str(), "w");
    bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file != nullptr) is_written = std::fclose(file) == 0 && is_written;
    if (!is_written) throw Error(ErrorCode::file_unwritable, "profile: can't write " + path);
}

}  // namespace kf
