// The fast way to make a call: by its LaunchPlan, without binding in general.
#pragma once

#include <kf/invoke.h>

#include <span>

#include "core/command_log.h"
#include "core/driver.h"

namespace kf::detail {

class DeviceState;
class ModuleState;
struct LaunchMarks;

/// A call that was admitted, and whose hooks were called.
struct LaunchRequest {
    const FunctionRef& function;
    std::size_t call = 0;
    PassKind pass = PassKind::forward;
    std::span<Arg> arguments;  ///< items
    Encoder* encoder = nullptr;
    const Dims* shape = nullptr;
    const Device* on = nullptr;
    const CommandLog* before = nullptr;  ///< what hooks recorded; null for none
    LaunchMarks* marks = nullptr;        ///< null where nothing looks at the call
};

/// The device, on a stream of the caller's or not, that the call is made on.
[[nodiscard]] DeviceState& device_of(const LaunchRequest& request);
/// Sets the list that the call is recorded in; null: it is run. False where that is of another device, or
/// keeps calls to run often. Throws what Encoder does once it was submitted.
[[nodiscard]] bool find_recorder(const LaunchRequest& request, const DeviceState& device,
                                 driver::Recorder*& recorder);

/// Makes the call as invoke() does, or returns false and has done nothing: what it can't be sure of, and all
/// that is wrong with a call, is the general binder's to look at. Keeps nothing from call to call.
bool launch_fast(const LaunchRequest& request);

/// Makes any call, by all rules; throws what invoke() does.
void launch_in_general(const LaunchRequest& request);

}  // namespace kf::detail
