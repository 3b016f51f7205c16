// An open CUDA device: commands, transfers and lists on its own stream or on the caller's.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "cuda/commands.h"
#include "cuda/driver.h"
#include "cuda/host_pool.h"
#include "cuda/textures.h"

namespace kf::cuda {

/// The state that all streams' views of one device share. Thread-safe.
struct Shared {
    explicit Shared(std::shared_ptr<Context> context, driver::Info info);
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    /// The one Stream for the caller's stream, so that memory used on it stays ordered from call to call.
    std::shared_ptr<Stream> stream(CUstream handle);

    std::shared_ptr<Context> context;
    driver::Info info;
    std::shared_ptr<Stream> own;
    std::shared_ptr<Memory> memory;
    std::shared_ptr<Modules> modules;
    HostPool uploads;
    Commands commands;
    Samplers samplers;
    /// The kernel that makes mips, which `load` loads once.
    template <class Load>
    std::shared_ptr<driver::Kernel> kept_mip_kernel(const Load& load) {
        const std::lock_guard lock(mip_mutex_);
        if (mip_kernel_ == nullptr) mip_kernel_ = load();
        return mip_kernel_;
    }

private:
    std::mutex mutex_;
    std::mutex mip_mutex_;
    std::shared_ptr<driver::Kernel> mip_kernel_;
    /// Returns the state of a stream that is captured, found by its handle, since CUDA answers no other
    /// question then. Another stream may have had the handle before: then work waits for more than it must.
    std::shared_ptr<Stream> captured_stream(CUstream handle);

    std::map<std::uint64_t, std::shared_ptr<Stream>> streams_;  ///< the callers', by id
    std::map<CUstream, std::shared_ptr<Stream>> unnumbered_;    ///< met first while they were captured
};

class CudaDevice final : public driver::Device {
public:
    CudaDevice(std::shared_ptr<Shared> shared, std::shared_ptr<Stream> stream);

    [[nodiscard]] const driver::Info& info() const override { return shared_->info; }
    void admit(std::uint64_t upload) override;
    /// The driver itself may wait for all kernels before it loads another.
    void admit_kernel() override { wait_interruptibly(); }
    std::shared_ptr<driver::Allocation> allocate(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> allocate_scratch(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> zeros(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> allocate_mapped(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> wrap(driver::ForeignMemory memory) override;
    void lend(const std::shared_ptr<driver::Allocation>& memory) override;
    std::shared_ptr<driver::Kernel> load_kernel(const manifest::Kernel& kernel) override;
    void dispatch(const driver::Dispatch& dispatch) override;
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override;
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override;
    void upload(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                std::span<const std::byte> bytes) override;
    void read_back(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                   std::span<std::byte> bytes) override;
    void check_read_back() const override;
    void flush() override;
    void wait() override;
    std::unique_ptr<driver::Recorder> make_recorder() override;
    void submit(std::unique_ptr<driver::Recorder> recorder) override;
    std::unique_ptr<driver::Graph> make_graph() override;
    void replay(driver::Graph& graph) override;
    void dispatch_again(const driver::Dispatch& dispatch) override;
    std::shared_ptr<driver::Timestamp> mark_time() override;
    [[nodiscard]] double nanoseconds(const driver::Timestamp& from,
                                     const driver::Timestamp& to) const override;
    void check_replay() const override;
    std::shared_ptr<driver::Device> on_stream(void* stream) override;
    [[nodiscard]] bool is_on_stream(void* stream) const override;

    // Functions of textures, defined in texture_device.cpp.
    std::shared_ptr<driver::Image> make_image(const driver::ImageShape& shape) override;
    std::shared_ptr<driver::Image> wrap_image(driver::ForeignImage image) override;
    std::shared_ptr<driver::Sampler> make_sampler(const driver::SamplerDescription& description) override;
    void upload_image(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                      std::span<const std::byte> texels) override;
    void read_back_image(const std::shared_ptr<driver::Image>& source, const driver::ImageRegion& region,
                         std::span<std::byte> texels) override;
    void copy_to_image(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                       const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset) override;
    void copy_from_image(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                         const std::shared_ptr<driver::Image>& source,
                         const driver::ImageRegion& region) override;
    void generate_mips(const std::shared_ptr<driver::Image>& image, const driver::ImageRange& range) override;

    [[nodiscard]] Statistics statistics() const;

private:
    /// Checks the region, too.
    CudaImage& own_image(driver::Image* image, const driver::ImageRegion& region, std::uint64_t bytes,
                         const char* what) const;
    void copy_texels(const CUDA_MEMCPY3D& copy) const;
    void refuse_capture(const char* what) const;
    /// Makes the context current. Throws where the device can't be used any more.
    [[nodiscard]] Current enter() const;
    /// Waits for what the stream has now, where while_waiting() is to be called meanwhile.
    void wait_interruptibly() const;
    /// Waits for all that uses it and copies it.
    void read_mapped(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                     std::span<std::byte> bytes);

    std::shared_ptr<Shared> shared_;
    std::shared_ptr<Stream> stream_;
};

}  // namespace kf::cuda
