// Calls that are bound once and run often: prepared ones, and those of graphs.
#pragma once

#include <kf/invoke.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bind.h"
#include "core/command_log.h"
#include "core/device_state.h"

namespace kf::detail {

/// What a call came to when it was bound.
struct SettledCall {
    FunctionRef function;
    std::size_t call = 0;
    PassKind pass = PassKind::forward;
    Binding binding;
    std::vector<Dims> extents;                      ///< of what was given for each argument, in scalars
    std::shared_ptr<driver::Allocation> temporary;  ///< its own, null for none
};

/// A call with its commands, and the memory that they need. Thread-safe.
class KeptCall {
public:
    /// A new value for argument `leaf`: a value, or a generator.
    struct Change {
        std::size_t leaf = 0;
        Arg arg;
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

    /// Refuses values that the call can't have.
    void check(std::span<const Change> changes);
    /// Sets values for later runs, which were checked.
    void set(std::span<const Change> changes);
    /// Says that argument `leaf` can't be set; returns where it can.
    void check_settable(std::size_t leaf) const;

    [[nodiscard]] const SettledCall& settled() const { return settled_; }
    [[nodiscard]] const manifest::Function& function() const;
    [[nodiscard]] const manifest::Call& call() const { return function().calls[settled_.call]; }
    [[nodiscard]] const std::shared_ptr<DeviceState>& device() const;
    /// How often values were set.
    [[nodiscard]] std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
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
    [[nodiscard]] BindRequest request(std::span<const ArgumentView> views) const;
    [[nodiscard]] const manifest::Kernel& kernel() const;
    [[nodiscard]] const manifest::BlockLayout& layout() const;
    void check_one(const Change& change) const;
    void put(const Change& change);
    void move_temporary(const std::shared_ptr<driver::Allocation>& to);

    SettledCall settled_;
    std::mutex mutex_;
    CommandLog log_;
    /// One an argument, from the first check on: a value is looked at in its argument's place.
    std::vector<ArgumentView> views_;
    std::atomic<std::uint64_t> version_ = 0;
};

/// The recorder of encoders that keep calls: each becomes a KeptCall once it is complete.
class KeptCalls final : public driver::Recorder {
public:
    void begin() { log_ = {}; }
    void end(SettledCall settled) {
        calls_.push_back(std::make_shared<KeptCall>(std::move(settled), std::move(log_)));
    }
    void add(std::shared_ptr<KeptCall> call) { calls_.push_back(std::move(call)); }
    [[nodiscard]] const std::vector<std::shared_ptr<KeptCall>>& calls() const { return calls_; }

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
    CommandLog log_;  ///< of the call that is being recorded
    std::vector<std::shared_ptr<KeptCall>> calls_;
};

/// The argument of that name, "t", "ray.t" or a global's "tint", of what can be set. Throws ArgumentError
/// (unknown_name) that lists those.
[[nodiscard]] std::size_t find_settable(const KeptCall& call, std::string_view name);
/// Whether the call has it.
[[nodiscard]] bool has_settable(const KeptCall& call, std::string_view name);
/// What can be set, for messages: "'t' and 'seed'".
[[nodiscard]] std::string settable_text(const manifest::Call& call);
/// Whether an argument has a value that runs may differ in.
[[nodiscard]] bool is_settable(const manifest::Argument& argument);

}  // namespace kf::detail
