// Finding and opening devices.
#include <kf/device.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "core/backends.h"
#include "core/device_state.h"
#include "core/encoder_state.h"
#include "core/join.h"
#include "core/observers.h"
#include "core/process.h"

namespace kf {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

using Found = driver::Candidate;

bool is_gpu(const Found& device) { return !device.info.is_cpu; }

void add_reason(std::string& why_not, const std::string& reason) {
    if (!reason.empty()) why_not += (why_not.empty() ? "" : "; ") + reason;
}

/// The devices of one backend.
std::vector<Found> find_devices(std::string_view only, std::string& why_not) {
    detail::start_drivers();
    for (const Backend& backend : backends()) {
        if (backend.name == only) return backend.find(why_not);
    }
    return {};
}

/// Every device up to those of the first backend that has a GPU, which is the one to open: starting another
/// driver for nothing takes long. And why backends have none.
std::vector<Found> find_first(std::string& why_not) {
    detail::start_drivers();
    std::vector<Found> found;
    for (const Backend& backend : backends()) {
        std::string reason;
        std::ranges::move(backend.find(reason), std::back_inserter(found));
        add_reason(why_not, reason);
        if (std::ranges::any_of(found, is_gpu)) break;
    }
    return found;
}

std::string device_list(const std::vector<Found>& found) {
    std::string text;
    for (const Found& device : found) {
        text += (text.empty() ? "" : ", ") + device.info.backend + ":" + std::to_string(device.info.index) +
                " (" + device.info.name + ")";
    }
    return text;
}

bool matches(const driver::Info& info, std::string_view selector) {
    if (selector.empty()) {
        return true;
    }
    int index = 0;
    const char* end = selector.data() + selector.size();
    const auto [stop, error] = std::from_chars(selector.data(), end, index);
    if (error == std::errc() && stop == end) {
        return info.index == index;
    }
    return lower(info.name).find(lower(selector)) != std::string::npos;
}

/// GPUs before CPU drivers; otherwise the order of backends and of their devices.
Device open_first(std::vector<Found> found) {
    std::stable_partition(found.begin(), found.end(), is_gpu);
    return detail::make_device(found.front().open());
}

}  // namespace

Device Device::open() {
    const char* name = std::getenv("KF_DEVICE");
    if (name != nullptr && *name != '\0') {
        return open(name);
    }
    std::string why_not;
    std::vector<Found> found = find_first(why_not);
    if (found.empty()) {
        throw DeviceError(ErrorCode::no_driver, "no device to run kernels on: " + why_not);
    }
    return open_first(std::move(found));
}

Device Device::open(std::string_view name) {
    if (name.empty()) {
        return open();
    }
    const std::string_view backend = name.substr(0, name.find(':'));
    const std::string_view selector =
        backend.size() == name.size() ? std::string_view{} : name.substr(backend.size() + 1);
    const std::vector<Backend> linked = backends();
    const auto is_named = [&](const Backend& one) { return one.name == backend; };
    if (std::ranges::none_of(linked, is_named)) {
        const std::string names = join(linked, [](const Backend& one) { return one.name; });
        const bool is_driver = std::ranges::count(backend_names, backend) > 0;
        const std::string why = is_driver ? "this program has the driver of " + names +
                                                " alone, for which its kernels were generated; add \"" +
                                                std::string(backend) + "\" to a spec's targets"
                                          : "this runtime knows " + names +
                                                "; write for example cuda:0, vulkan or vulkan:llvmpipe";
        throw DeviceError(ErrorCode::no_device, "no device '" + std::string(name) + "': " + why);
    }
    std::string why_not;
    std::vector<Found> found = find_devices(backend, why_not);
    if (found.empty()) {
        throw DeviceError(ErrorCode::no_driver, "no device '" + std::string(name) + "': " + why_not);
    }
    const std::string there = device_list(found);
    std::erase_if(found, [&](const Found& device) { return !matches(device.info, selector); });
    if (found.empty()) {
        throw DeviceError(ErrorCode::no_device, "no device '" + std::string(name) + "'; there are " + there);
    }
    return open_first(std::move(found));
}

std::vector<DeviceInfo> devices() {
    detail::start_drivers();
    std::vector<DeviceInfo> infos;
    for (const Backend& backend : backends()) {
        std::string why_not;
        for (const driver::Info& info : backend.enumerate(why_not)) {
            infos.push_back(detail::device_info(info));
        }
    }
    return infos;
}

const DeviceInfo& Device::info() const { return state()->info(); }

bool Device::operator==(const Device& other) const {
    return state_ == other.state_ || (state_ && other.state_ && state_->is_same(*other.state_));
}

Device Device::with_stream(void* stream) const {
    if (state()->root_of_stream()) {
        return Device(state()->root_of_stream()).with_stream(stream);
    }
    std::shared_ptr<driver::Device> driver = state()->driver().on_stream(stream);
    if (!driver) {
        throw ArgumentError(ErrorCode::device_mismatch, "with_stream: " + info().id + " (" + info().name +
                                                            ") takes no stream; CUDA devices do");
    }
    return Device(detail::DeviceState::make(state(), std::move(driver)));
}

void Device::set_check(Check check) const {
    state()->observe([&](detail::Observers& observers) { observers.watch_nan(check == Check::nan); });
}

Check Device::check() const {
    const detail::Observers* const observers = state()->observers();
    return observers != nullptr && observers->watches_nan() ? Check::nan : Check::nothing;
}

void Device::flush() const { state()->driver().flush(); }

void Device::wait() const {
    state()->driver().wait();
    state()->take_reports();
}

void Device::show_lines(std::function<void(std::string_view)> show) const {
    std::function<void(const std::string&)> taken;
    if (show) taken = [show = std::move(show)](const std::string& line) { show(line); };
    state()->show_lines(std::move(taken));
}

Encoder Device::encoder() const { return Encoder(state()); }

void Device::throw_ragged() {
    throw ArgumentError(ErrorCode::shape_mismatch, "tensor: the rows of nested values differ in length");
}

}  // namespace kf
