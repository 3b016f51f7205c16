// One open device as Python sees it: the device and the modules loaded on it.
#pragma once

#include <kf/device.h>
#include <kf/function_ref.h>
#include <kf/module.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/loaded_artifact.h"
#include "python/common.h"

namespace kf::python {

class Context;
class Loan;

/// An artifact in memory, read and verified once; loaded on devices on demand, from which it goes with the
/// last Python object of the module. Immutable.
class Artifact {
public:
    explicit Artifact(std::shared_ptr<const detail::LoadedArtifact> loaded)
        : loaded_(std::move(loaded)), manifest(loaded_->manifest) {}
    ~Artifact();
    Artifact(const Artifact&) = delete;
    Artifact& operator=(const Artifact&) = delete;

    [[nodiscard]] const std::shared_ptr<const detail::LoadedArtifact>& loaded() const { return loaded_; }
    [[nodiscard]] const detail::ConstantValues& constants() const { return loaded_->constants(); }
    /// Returns the artifact with these values of the constants that run time chooses.
    [[nodiscard]] std::shared_ptr<const Artifact> with(detail::ConstantValues constants) const {
        return std::make_shared<const Artifact>(loaded_->with(std::move(constants)));
    }
    /// Says which device has it loaded.
    void add_user(const std::shared_ptr<Context>& context) const;

private:
    std::shared_ptr<const detail::LoadedArtifact> loaded_;
    mutable std::mutex mutex_;
    mutable std::vector<std::weak_ptr<Context>> users_;

public:
    const manifest::Manifest& manifest;
};

/// Owns a list of loans.
struct LoanList {
    LoanList() = default;
    ~LoanList();
    LoanList(const LoanList&) = delete;
    LoanList& operator=(const LoanList&) = delete;

    Loan* first = nullptr;
};

/// Shared by every Python object of the device; the device closes, and its modules go, with the last one.
class Context : public std::enable_shared_from_this<Context> {
public:
    using PythonClass = Context;

    explicit Context(Device device);
    /// Waits for what was issued, but not where the program ends by Ctrl-C.
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    [[nodiscard]] const Device& device() const { return device_; }
    /// Loads the artifact on first use, without the GIL, which the caller has.
    Module module(const std::shared_ptr<const Artifact>& artifact);
    /// Returns function number `index` of that module, configured as nothing. It stays as long as the
    /// artifact and the context do.
    const detail::FunctionRef& function(const std::shared_ptr<const Artifact>& artifact, std::size_t index);
    /// Lets go of the modules whose artifacts are gone; later, where another thread loads one now.
    void drop_modules();
    /// Another number for every context there ever was.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    /// The device on a stream of another library's, which calls come back to. Needs the GIL.
    const Device& on_stream(void* stream);

    LoanList loans;  ///< that no call has. Needs the GIL

private:
    struct Loaded {
        Module module;
        std::map<std::size_t, detail::FunctionRef> functions;
    };

    Device device_;
    Device on_stream_;  ///< the last one asked for
    std::uint64_t number_;
    std::mutex mutex_;
    std::map<std::weak_ptr<const Artifact>, Loaded, std::owner_less<>> modules_;
};

using ContextPtr = std::shared_ptr<Context>;

/// What set_device() named, else KF_DEVICE's or the best there is, opened on first use.
ContextPtr default_context();

/// The device that CUDA counts as `ordinal`: the default one where it is that, else one that is opened once
/// and kept.
ContextPtr cuda_context(int ordinal);

/// The device that calls of other libraries' tensors in the host's memory run on: the default one if that is
/// Vulkan's, else the first of Vulkan's, of which drivers of the CPU come first, opened once and kept; where
/// there is none, the default one.
ContextPtr host_context();

/// A `device` argument: a kf.Device, or None for the default one.
ContextPtr context_of(py::handle device, const Where& where);

}  // namespace kf::python
