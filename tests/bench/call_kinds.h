// CPU time of calls that bind in other ways than the plainest one.
#pragma once

#include <kf/device.h>

#include <nlohmann/json.hpp>

/// Microseconds of CPU time of each kind of call, by turns, and over the plain one: eight shapes in rotation,
/// strides, broadcasts, generators, sums, temporary memory, and recording.
nlohmann::json time_call_kinds(const kf::Device& device);
