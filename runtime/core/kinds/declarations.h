// Forward declarations of the manifest's types, for the kinds that they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kf::manifest {

struct Argument;
struct Call;
class RecordList;
struct CallResource;
using ResourceList = std::vector<CallResource>;

}  // namespace kf::manifest
