// How many threads run: threads(), groups() and launchRaw() of functions that the host launches.
#pragma once

#include <kf/options.h>

#include <span>
#include <string>

#include "python/common.h"

namespace kf::python {

/// "f.threads(x, y, z)" and its kin: integers from 0 to 2^32 - 1, y and z 1 where they aren't given.
Launch launch_of(const std::string& function, const char* what, std::span<PyObject* const> count,
                 bool in_groups);

/// launchRaw(blockSize=(x, y, z), gridSize=(x, y, z)).
Launch raw_launch_of(const std::string& function, const py::handle& block_size, const py::handle& grid_size);

}  // namespace kf::python
