// Compares forward derivatives of one overload with differences.
#pragma once

#include <kf/invoke.h>

#include <cstddef>

#include "check/report.h"
#include "check/settings.h"

namespace kf::check {

/// `function` is that of forward derivatives: each of its calls has a call's arguments and their tangents.
/// Adds an input to the report for each one that takes a tangent.
void check_tangents(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                    CallReport& report);

}  // namespace kf::check
