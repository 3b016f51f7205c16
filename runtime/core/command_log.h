// Commands that are kept until it is known that they are to run, or to run often: what hooks record, and
// calls that are prepared.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/driver.h"
#include "core/owners.h"

namespace kf::detail {

class ObservedCall;

/// Owns what its commands use. They were checked by the calls that made them, and drivers check them again
/// when they are replayed. Not thread-safe.
class CommandLog final : public driver::Recorder {
public:
    void dispatch(const driver::Dispatch& dispatch) override;
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override;
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override;

    /// The commands up to `end`, from the part before on: they are these calls.
    struct Part {
        std::size_t end = 0;
        std::vector<std::shared_ptr<const ObservedCall>> calls;
    };
    /// Says of which calls the commands since the last part are; see core/observers.h.
    void end_part(std::vector<std::shared_ptr<const ObservedCall>> calls) {
        parts_.push_back({commands_.size(), std::move(calls)});
    }
    [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

    [[nodiscard]] bool is_empty() const { return commands_.empty(); }
    [[nodiscard]] std::size_t size() const { return commands_.size(); }
    /// The block of the last command, a dispatch.
    [[nodiscard]] std::span<std::byte> last_block() { return std::get<Dispatch>(commands_.back()).block; }
    /// The last command, a dispatch; lent.
    [[nodiscard]] driver::Dispatch last_dispatch() const;
    /// Gives it another resource in place of number `index`.
    void set_last_resource(std::size_t index, driver::Resource resource) {
        std::get<Dispatch>(commands_.back()).resources[index] = std::move(resource);
    }
    /// The block of dispatch number `index`.
    [[nodiscard]] std::span<std::byte> block(std::size_t index);
    /// Whether some command writes bytes that are the allocation's, too.
    [[nodiscard]] bool writes(const driver::Allocation& memory) const;
    /// Whether a dispatch before the last one takes the image, and it can be written to.
    [[nodiscard]] bool takes_writable(const driver::Image& image) const;
    /// How many of the commands are dispatches.
    [[nodiscard]] std::size_t dispatches() const;
    /// Lets the commands use `other` instead of an allocation.
    void exchange(const std::shared_ptr<driver::Allocation>& known,
                  const std::shared_ptr<driver::Allocation>& other);
    /// Gives them, in order, to the device, which took them before.
    void run(driver::Device& device) const;
    /// Gives them, in order, to a driver::Recorder or a driver::Device.
    template <class Target>
    void replay(Target& target) const {
        replay(target, 0, commands_.size());
    }
    /// Replays the commands [begin, end) alone.
    template <class Target>
    void replay(Target& target, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) {
            std::visit(
                [&](const auto& kept) {
                    kept.note_written();
                    kept.replay(target);
                },
                commands_[i]);
        }
    }

private:
    struct Dispatch {
        std::shared_ptr<driver::Kernel> kernel;
        driver::Grid groups{};
        std::vector<std::byte> block;
        std::vector<driver::Use> uses;
        std::vector<driver::Resource> resources;
        std::string label;

        [[nodiscard]] driver::Dispatch lent() const {
            return {kernel.get(), groups, block, uses, resources, label};
        }
        [[nodiscard]] bool writes(const driver::Allocation& memory) const;
        void note_written() const;
        template <class Target>
        void replay(Target& target) const {
            target.dispatch(lent());
        }
    };
    struct Fill {
        std::shared_ptr<driver::Allocation> target;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        std::uint32_t word = 0;

        [[nodiscard]] bool writes(const driver::Allocation& memory) const;
        void note_written() const { target->note_written(); }
        template <class Target>
        void replay(Target& into) const {
            into.fill(target, offset, size, word);
        }
    };
    struct Copy {
        std::shared_ptr<driver::Allocation> target;
        std::uint64_t target_offset = 0;
        std::shared_ptr<driver::Allocation> source;
        std::uint64_t source_offset = 0;
        std::uint64_t size = 0;

        [[nodiscard]] bool writes(const driver::Allocation& memory) const;
        void note_written() const { target->note_written(); }
        template <class Target>
        void replay(Target& into) const {
            into.copy(target, target_offset, source, source_offset, size);
        }
    };
    using Command = std::variant<Dispatch, Fill, Copy>;

    std::vector<Command> commands_;
    std::vector<Part> parts_;
    Owners<driver::Allocation> allocations_;
};

}  // namespace kf::detail
