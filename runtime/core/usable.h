// Chooses among the devices that a driver finds.
#pragma once

#include <kf/error.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/driver.h"
#include "core/join.h"

namespace kf::driver {

/// Returns those that lack nothing, with their indices. Where there are none, `why_not` says what each lacks,
/// or, where no device is found, `none`.
template <class Physical>
std::vector<Physical> usable(std::vector<Physical> all, const std::string& none, std::string& why_not) {
    std::vector<Physical> found;
    std::string lacking;
    for (Physical& one : all) {
        if (one.lacking.empty()) {
            one.info.index = static_cast<int>(found.size());
            found.push_back(std::move(one));
        } else {
            lacking += (lacking.empty() ? one.info.backend + ": " : "; ") + one.info.name + " lacks " +
                       join(one.lacking);
        }
    }
    if (found.empty()) why_not = lacking.empty() ? none : lacking;
    return found;
}

/// Returns what is said of the devices that find(why_not) returns; none where it throws a DeviceError.
template <class Find>
std::vector<Info> infos_of(Find find, std::string* why_not) {
    std::vector<Info> infos;
    std::string reason;
    try {
        for (auto& physical : find(reason)) infos.push_back(std::move(physical.info));
    } catch (const DeviceError& error) {
        infos.clear();
        reason = error.what();
    }
    if (why_not != nullptr) *why_not = reason;
    return infos;
}

/// A device that was found, and how it is opened with what finding it has opened already.
struct Candidate {
    Info info;
    std::function<std::shared_ptr<Device>()> open;
};

/// Returns what find(why_not) returns; none where it throws a DeviceError.
template <class Find>
std::vector<Candidate> candidates_of(Find find, std::string& why_not) {
    try {
        return find(why_not);
    } catch (const DeviceError& error) {
        why_not = error.what();
        return {};
    }
}

/// Throws DeviceError (no_device) where there is no device of that index.
template <class Physical>
Physical& device_at(std::vector<Physical>& devices, int index, const std::string& why_not) {
    if (index >= 0 && static_cast<std::size_t>(index) < devices.size())
        return devices[static_cast<std::size_t>(index)];
    throw DeviceError(ErrorCode::no_device, devices.empty()
                                                ? why_not
                                                : devices.front().info.backend + ": there is no device " +
                                                      std::to_string(index) + "; there are " +
                                                      std::to_string(devices.size()));
}

}  // namespace kf::driver
