// Calls that are bound once and run often: prepared ones, and those of graphs.
#pragma once

#include <kf/any_texture.h>
#include <kf/invoke.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/bind.h"
#include "core/command_log.h"
#include "core/device_state.h"
#include "core/observers.h"

namespace kf::detail {

/// What a call came to when it was bound.
struct SettledCall {
    FunctionRef function;
    std::size_t call = 0;
    PassKind pass = PassKind::forward;
    Binding binding;
    std::vector<Dims> extents;         ///< of what was given for each argument, in scalars
    std::vector<AnyTexture> textures;  ///< one an argument, null for what is none; empty without any
    std::shared_ptr<driver::Allocation> temporary;  ///< its own, null for none
    ObservedCalls hooked;                           ///< what its hooks recorded, for who looks at calls
    std::shared_ptr<ObservedCall> observed;         ///< the call itself
};

/// A call with its commands, and the memory that they need. Thread-safe.
class KeptCall {
public:
    /// A new value for argument `leaf`: a value, a generator, a texture or a sampler.
    struct Change {
        std::size_t leaf = 0;
        Arg arg;
        std::optional<driver::Resource> resource = {};  ///< what check() made of a texture or a sampler
        AnyTexture replaced = {};                       ///< what set() let go of
    };

    /// `log`: the call's commands, its own dispatch the last, unless there is nothing to launch.
    KeptCall(SettledCall settled, CommandLog log) : settled_(std::move(settled)), log_(std::move(log)) {}
    /// The same call with values and temporary memory of its own.
    [[nodiscard]] std::shared_ptr<KeptCall> copy();

    /// Runs it on the device that it was settled for, on whatever stream.
    void run(const DeviceState& on);
    /// Records its commands, which go on to use its temporary memory.
    void append_to(driver::Recorder& recorder);
    /// Records it as it is now: values that are set later don't reach what was recorded.
    void append_as_it_is(driver::Recorder& recorder);

    /// The calls as they are now, for who looks at them.
    [[nodiscard]] ObservedCalls observed();

    /// Refuses values that the call can't have, all of them together. Runs wait, and so does who else sets
    /// values, as long as the lock is held.
    [[nodiscard]] std::unique_lock<std::mutex> check(std::span<Change> changes);
    /// Sets values for later runs, which were checked under this lock.
    void set(std::span<Change> changes, const std::unique_lock<std::mutex>& lock);
    /// Says that argument `leaf` can't be set; returns where it can.
    void check_settable(std::size_t leaf) const;
    /// What can be set, for messages: "'t' and 'seed'".
    [[nodiscard]] std::string settable_text() const;

    [[nodiscard]] const SettledCall& settled() const { return settled_; }
    [[nodiscard]] const manifest::Function& function() const;
    [[nodiscard]] const manifest::Call& call() const { return function().calls[settled_.call]; }
    [[nodiscard]] const std::shared_ptr<DeviceState>& device() const;
    /// How often values were set.
    [[nodiscard]] std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
    /// How often textures or samplers were set.
    [[nodiscard]] std::uint64_t resources_version() const {
        return resources_version_.load(std::memory_order_acquire);
    }
    /// Whether a run writes to the memory, or to the image.
    [[nodiscard]] bool writes(const driver::Allocation& memory) const;
    [[nodiscard]] bool writes(const driver::Image& image) const;
    /// Whether its own dispatch is the last command, and how many dispatches there are.
    [[nodiscard]] bool launches() const { return settled_.binding.total > 0; }
    [[nodiscard]] std::size_t dispatches() const { return log_.dispatches(); }
    /// Calls `take(block)` with its own dispatch's.
    template <class Take>
    void read_block(Take take) {
        const std::lock_guard lock(mutex_);
        take(std::span<const std::byte>(log_.last_block()));
    }

private:
    [[nodiscard]] ObservedCalls observed_now() const;
    [[nodiscard]] BindRequest request(std::span<const ArgumentView> views) const;
    [[nodiscard]] const manifest::Kernel& kernel() const;
    [[nodiscard]] const manifest::BlockLayout& layout() const;
    [[nodiscard]] bool can_set(std::size_t leaf) const;
    void check_one(const Change& change) const;
    void check_resources(std::span<Change> changes) const;
    [[nodiscard]] driver::Resource resource_of(const Change& change) const;
    void put(const Change& change);
    void put_resource(Change& change);
    void move_temporary(const std::shared_ptr<driver::Allocation>& to);

    SettledCall settled_;
    mutable std::mutex mutex_;
    CommandLog log_;
    /// One an argument, from the first check on: a value is looked at in its argument's place.
    std::vector<ArgumentView> views_;
    std::atomic<std::uint64_t> version_ = 0;
    std::atomic<std::uint64_t> resources_version_ = 0;
};

/// The recorder of encoders that keep calls: each becomes a KeptCall once it is complete. There may be
/// commands between them.
class KeptCalls final : public driver::Recorder {
public:
    void begin() { log_ = {}; }
    void end(SettledCall settled) {
        calls_.push_back(std::make_shared<KeptCall>(std::move(settled), std::move(log_)));
    }
    void add(std::shared_ptr<KeptCall> call) { calls_.push_back(std::move(call)); }
    [[nodiscard]] const std::vector<std::shared_ptr<KeptCall>>& calls() const { return calls_; }

    /// Commands that come behind the calls so far, and are no call's.
    [[nodiscard]] CommandLog& between();
    /// Calls `take_call(call)` and `take_between(log)`, in the order in which they run.
    template <class TakeCall, class TakeBetween>
    void visit(TakeCall take_call, TakeBetween take_between) const {
        auto next = between_.begin();
        for (std::size_t i = 0; i <= calls_.size(); ++i) {
            if (next != between_.end() && next->calls == i) take_between((next++)->log);
            if (i < calls_.size()) take_call(*calls_[i]);
        }
    }
    /// Whether a run of them all writes to the memory, or to the image.
    template <class Memory>
    [[nodiscard]] bool writes(const Memory& memory) const {
        bool found = false;
        visit([&](const KeptCall& call) { found = found || call.writes(memory); },
              [&](const CommandLog& log) {
                  if constexpr (std::is_same_v<Memory, driver::Allocation>)
                      found = found || log.writes(memory);
              });
        return found;
    }

    void dispatch(const driver::Dispatch& dispatch) override { log_.dispatch(dispatch); }
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override {
        log_.fill(target, offset, size, word);
    }
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override {
        log_.copy(target, target_offset, source, source_offset, size);
    }

private:
    struct Between {
        std::size_t calls = 0;  ///< how many of them come before
        CommandLog log;
    };

    CommandLog log_;  ///< of the call that is being recorded
    std::vector<std::shared_ptr<KeptCall>> calls_;
    std::vector<Between> between_;
};

/// The argument of that name, "t", "ray.t" or a global's "tint", of what can be set. Throws ArgumentError
/// (unknown_name) that lists those.
[[nodiscard]] std::size_t find_settable(const KeptCall& call, std::string_view name);
/// Whether the call has it.
[[nodiscard]] bool has_settable(const KeptCall& call, std::string_view name);

}  // namespace kf::detail
