// What kinds' declarations name before it is defined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kf::manifest {

struct Argument;
struct Call;
class SlotList;

}  // namespace kf::manifest
