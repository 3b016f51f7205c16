// Commands that are kept until it is known that they are to run.
#include "core/command_log.h"

#include <algorithm>

#include "core/dispatch.h"

namespace kf::detail {
namespace {

/// Wrapped memory may be in several allocations.
bool meet(const driver::Allocation& a, const driver::Allocation& b) {
    return a.address < b.address + b.size && b.address < a.address + a.size;
}

}  // namespace

bool CommandLog::Dispatch::writes(const driver::Allocation& memory) const {
    return std::ranges::any_of(uses, [&](const driver::Use& use) {
        return use.writes && use.allocation != nullptr && meet(*use.allocation, memory);
    });
}

void CommandLog::Dispatch::note_written() const {
    if (!driver::Awaited::is_any()) return;
    for (const driver::Use& use : uses) {
        if (use.writes && use.allocation != nullptr) use.allocation->note_written();
    }
    for (const driver::Resource& resource : resources) {
        if (driver::Image* const image = driver::image_of(resource)) image->note_written();
    }
}

bool CommandLog::Fill::writes(const driver::Allocation& memory) const { return meet(*target, memory); }

bool CommandLog::Copy::writes(const driver::Allocation& memory) const { return meet(*target, memory); }

bool CommandLog::writes(const driver::Allocation& memory) const {
    return std::ranges::any_of(commands_, [&](const Command& command) {
        return std::visit([&](const auto& kept) { return kept.writes(memory); }, command);
    });
}

bool CommandLog::takes_writable(const driver::Image& image) const {
    if (!image.shape.is_writable || commands_.empty()) return false;
    return std::any_of(commands_.begin(), commands_.end() - 1, [&](const Command& command) {
        const auto* const dispatch = std::get_if<Dispatch>(&command);
        return dispatch != nullptr && std::ranges::any_of(dispatch->resources, [&](const auto& resource) {
                   return driver::image_of(resource) == &image;
               });
    });
}

void CommandLog::dispatch(const driver::Dispatch& dispatch) {
    for (const driver::Use& use : dispatch.uses) {
        if (use.allocation != nullptr) allocations_.add(*use.allocation);
    }
    commands_.emplace_back(Dispatch{dispatch.kernel->shared_from_this(),
                                    dispatch.groups,
                                    {dispatch.block.begin(), dispatch.block.end()},
                                    {dispatch.uses.begin(), dispatch.uses.end()},
                                    {dispatch.resources.begin(), dispatch.resources.end()},
                                    std::string(dispatch.label)});
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

driver::Dispatch CommandLog::last_dispatch() const { return std::get<Dispatch>(commands_.back()).lent(); }

std::span<std::byte> CommandLog::block(std::size_t index) {
    auto command = commands_.begin();
    for (;; ++command) {
        auto* dispatch = std::get_if<Dispatch>(&*command);
        if (dispatch != nullptr && index-- == 0) return dispatch->block;
    }
}

std::size_t CommandLog::dispatches() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        commands_, [](const Command& command) { return std::holds_alternative<Dispatch>(command); }));
}

void CommandLog::exchange(const std::shared_ptr<driver::Allocation>& known,
                          const std::shared_ptr<driver::Allocation>& other) {
    const auto put = [&](std::shared_ptr<driver::Allocation>& memory) {
        if (memory == known) memory = other;
    };
    for (Command& command : commands_) {
        if (auto* dispatch = std::get_if<Dispatch>(&command)) {
            for (driver::Use& use : dispatch->uses) {
                if (use.allocation == known.get()) use.allocation = other.get();
            }
        } else if (auto* fill = std::get_if<Fill>(&command)) {
            put(fill->target);
        } else {
            put(std::get<Copy>(command).target);
            put(std::get<Copy>(command).source);
        }
    }
    allocations_.exchange(*known, *other);
}

void CommandLog::run(driver::Device& device) const {
    for (const Command& command : commands_) {
        if (const auto* one = std::get_if<Dispatch>(&command)) {
            one->note_written();
            device.dispatch_again(one->lent());
        } else {
            std::visit(
                [&](const auto& kept) {
                    kept.note_written();
                    kept.replay(device);
                },
                command);
        }
    }
}

}  // namespace kf::detail
