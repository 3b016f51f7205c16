// Forward declarations of the manifest's types, for the kinds that they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kf::manifest {

struct Argument;
struct Call;
class RecordList;

}  // namespace kf::manifest
