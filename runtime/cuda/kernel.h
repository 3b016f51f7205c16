// Loaded images, each once a context, and the kernels in them.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/driver.h"
#include "cuda/context.h"

namespace kf::cuda {

/// The images loaded into a context, by their SHA-256. They stay loaded as long as this lives: a graph may
/// launch their kernels at any time. Thread-safe; two images load at the same time, one image once.
class Modules {
public:
    explicit Modules(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    ~Modules();
    Modules(const Modules&) = delete;
    Modules& operator=(const Modules&) = delete;

    /// Returns null where the driver can't take the image (made for another GPU, or by a newer toolkit), with
    /// the reason in `refusal`. Throws kf::DeviceError for other failures. Needs the context to be current.
    CUmodule load(const manifest::Image& image, const std::string& kernel, std::string& refusal);
    [[nodiscard]] const std::shared_ptr<Context>& context() const { return context_; }

private:
    struct Entry {
        std::mutex mutex;
        CUmodule module = nullptr;
    };

    CUresult load_cubin(const SharedBytes& bytes, CUmodule& module) const;
    CUresult load_ptx(const SharedBytes& bytes, CUmodule& module, std::string& log) const;

    std::shared_ptr<Context> context_;
    std::mutex mutex_;
    std::map<std::array<std::uint8_t, 32>, std::shared_ptr<Entry>> entries_;
};

/// Immutable; keeps the context and the image alive.
class CudaKernel final : public driver::Kernel {
public:
    /// Loads the best image that the driver takes. Throws kf::DeviceError (missing_feature) naming the
    /// kernel, the device, the driver and every image on offer when there is none, and kf::ArtifactError
    /// where the kernel has no CUDA image or parameter layout. Needs the context to be current.
    CudaKernel(std::shared_ptr<Modules> modules, const manifest::Kernel& kernel);

    [[nodiscard]] const Context* context() const { return modules_->context().get(); }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] CUfunction function() const { return function_; }
    [[nodiscard]] const std::array<std::uint32_t, 3>& group_size() const { return group_size_; }
    [[nodiscard]] std::size_t block_size() const { return block_size_; }  ///< bytes
    [[nodiscard]] const std::vector<manifest::ResourceSlot>& resources() const { return resources_; }
    /// The places of the resources' handles in the block, bytes.
    [[nodiscard]] const std::vector<std::int64_t>& resource_places() const { return resource_places_; }

private:
    void load(const manifest::Kernel& kernel);
    void check_threads();

    std::shared_ptr<Modules> modules_;
    std::string name_;
    std::array<std::uint32_t, 3> group_size_{};
    std::size_t block_size_ = 0;
    std::vector<manifest::ResourceSlot> resources_;
    std::vector<std::int64_t> resource_places_;
    CUfunction function_ = nullptr;
};

}  // namespace kf::cuda
