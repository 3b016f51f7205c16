// What kernels report to the host while they run: printed lines, assertions that don't hold, indices out of
// range. Only those that were generated to do so, see manifest::Call::reports().
#pragma once

#include <kf/any_tensor.h>
#include <kf/pass_kind.h>
#include <kf/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "core/driver.h"
#include "core/records.h"

namespace kf::detail {

class LoadedArtifact;

/// The launch of a call whose kernel reports, for who reads the reports. Holds no device, which holds it.
struct ReportingCall {
    /// Where an argument's elements, or those of a gradient of it, lie.
    struct Memory {
        std::string name;  ///< "argument 'x'"
        std::uint64_t low = 0;
        std::uint64_t high = 0;  ///< the end
    };

    std::shared_ptr<const LoadedArtifact> artifact;
    std::size_t function = 0;
    std::size_t call = 0;
    PassKind pass = PassKind::forward;
    Dims shape;
    std::vector<Memory> memory;
    std::vector<std::uint64_t> buffers;  ///< where the call's resources lie; 0 of those that are no buffers
};

/// The reports of one device. Thread-safe.
class Reports {
public:
    /// The buffer's 32-bit words, and where reports begin; kf_reports.slang has the same numbers.
    static constexpr std::size_t words = 262'144;
    static constexpr std::size_t begin = 16 + 1024;

    explicit Reports(std::shared_ptr<driver::Allocation> buffer) : buffer_(std::move(buffer)) {}

    /// Notes a launch. `runs_often`: it may run at any time, and again.
    [[nodiscard]] manifest::ReportsRecord add(ReportingCall call, bool runs_often);
    [[nodiscard]] const std::shared_ptr<driver::Allocation>& buffer() const { return buffer_; }

    /// Held while kernels that report are handed to the device, so that none runs between the copy of the
    /// buffer and its clearing.
    [[nodiscard]] std::shared_lock<std::shared_mutex> launching() const {
        return std::shared_lock(launching_);
    }

    /// Waits for the kernels that report, and takes what they did. Hands each line, which ends with one, to
    /// `show`. Throws Error: assertion_failed or index_out_of_range for the first that a kernel reported.
    void take(driver::Device& driver, const std::function<void(const std::string&)>& show);

private:
    struct Launch {
        ReportingCall call;
        bool runs_often = false;
    };
    /// How many that run once are remembered: those of other threads may not have run when reports are taken.
    static constexpr std::uint32_t most_launches = 4096;

    [[nodiscard]] std::vector<std::uint32_t> read(driver::Device& driver) const;

    std::shared_ptr<driver::Allocation> buffer_;
    std::mutex taking_;                    ///< held while reports are taken
    mutable std::shared_mutex launching_;  ///< see launching()
    std::mutex mutex_;                     ///< of what follows
    std::uint32_t last_ = 0;
    std::map<std::uint32_t, Launch> launches_;
};

/// A line as printf() makes it of a format and arguments, which lie as kernels report them.
[[nodiscard]] std::string formatted(const std::string& format, std::span<const std::uint32_t> arguments);

}  // namespace kf::detail
