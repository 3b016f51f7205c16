// Commands that are kept until it is known that they are to run.
#include "core/command_log.h"

namespace kf::detail {

void CommandLog::dispatch(const driver::Dispatch& dispatch) {
    for (const driver::Use& use : dispatch.uses) {
        if (use.allocation != nullptr) allocations_.add(*use.allocation);
    }
    commands_.emplace_back(Dispatch{dispatch.kernel->shared_from_this(),
                                    dispatch.groups,
                                    {dispatch.block.begin(), dispatch.block.end()},
                                    {dispatch.uses.begin(), dispatch.uses.end()},
                                    {dispatch.resources.begin(), dispatch.resources.end()}});
}

void CommandLog::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                      std::uint64_t size, std::uint32_t word) {
    commands_.emplace_back(Fill{target, offset, size, word});
}

void CommandLog::copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
                      const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
                      std::uint64_t size) {
    commands_.emplace_back(Copy{target, target_offset, source, source_offset, size});
}

}  // namespace kf::detail
