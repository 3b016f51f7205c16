// The shape of calls that the host launches thread by thread.
#include <algorithm>
#include <limits>

#include "core/bind_error.h"
#include "core/bind_parts.h"
#include "core/pass_rules.h"
#include "core/tensor_state.h"

namespace kf::detail {
namespace {

constexpr std::array names{'x', 'y', 'z'};

std::string to_text(const std::array<std::uint32_t, 3>& size) {
    return "(" + std::to_string(size[0]) + ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]) +
           ")";
}

}  // namespace

void check_unlaunched(const BindRequest& request) {
    if (request.options.launch) {
        fail(request, ErrorCode::unknown_name,
             "it makes a call for each element of its arguments: threads() and groups() are for entry points "
             "and for calls whose spec says \"dispatch\": \"threads\"");
    }
}

void bind_threads(const BindRequest& request, Binding& binding) {
    if (request.shape != nullptr) {
        fail(request, ErrorCode::unknown_name,
             "it is launched by threads(x, y, z) or groups(x, y, z), and takes no shape");
    }
    if (!request.options.launch) {
        fail(request, ErrorCode::missing_argument,
             "nothing says how many threads run: launch it by threads(x, y, z) or groups(x, y, z)");
    }
    const Launch& launch = *request.options.launch;
    const std::int64_t index = pass_of(request, false).contiguous;
    const manifest::Kernel& kernel = request.manifest.kernels[static_cast<std::size_t>(index)];
    if (launch.group_size != std::array<std::uint32_t, 3>{} && launch.group_size != kernel.group_size) {
        fail(request, ErrorCode::value_range,
             "groups of " + to_text(launch.group_size) +
                 " threads were asked for, and it was generated for " + to_text(kernel.group_size) +
                 ": say the size in the call spec (\"threads\")");
    }
    binding.shape = Dims(3, 0);
    std::int64_t groups = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t size = kernel.group_size[d];
        const std::int64_t count = launch.count[d];
        const std::int64_t along = launch.in_groups ? count : (count + size - 1) / size;
        if (along > request.limits.max_grid[d]) {
            fail(request, ErrorCode::value_range,
                 std::to_string(along) + " groups of threads along " + names[d] +
                     " are more than the device runs: " + std::to_string(request.limits.max_grid[d]));
        }
        binding.grid[d] = static_cast<std::uint32_t>(along);
        const bool whole = launch.in_groups || request.call.dispatch == manifest::Dispatch::groups;
        binding.shape[2 - d] = whole ? along * size : count;
        groups = std::min(groups * along, std::int64_t{std::numeric_limits<std::uint32_t>::max()} + 1);
    }
    if (groups > std::numeric_limits<std::uint32_t>::max()) {
        fail(request, ErrorCode::value_range, "more than 2^32 groups of threads in all");
    }
    binding.groups = static_cast<std::uint32_t>(groups);
    binding.total = checked_product(binding.shape, request.function.name.c_str());
}

}  // namespace kf::detail
