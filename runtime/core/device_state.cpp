// What all handles of one device share.
#include "core/device_state.h"

#include <algorithm>
#include <vector>

namespace kf::detail {

DeviceState::DeviceState(std::shared_ptr<driver::Device> device)
    : driver_(std::move(device)), info_(device_info(driver_->info())) {}

DeviceState::DeviceState(std::shared_ptr<DeviceState> root, std::shared_ptr<driver::Device> on_stream)
    : root_(std::move(root)), driver_(std::move(on_stream)) {}

void DeviceState::destroy(DeviceState* state) {
    if (state->process_.is_here()) {
        delete state;
        return;
    }
    // Kept where tools that look for leaks find it.
    static std::mutex mutex;
    static auto& kept = *new std::vector<DeviceState*>();
    const std::lock_guard lock(mutex);
    kept.push_back(state);
}

std::shared_ptr<driver::Allocation> DeviceState::allocate(std::uint64_t size) const {
    return size == 0 ? nullptr : driver().allocate((size + 3) & ~std::uint64_t{3});
}

std::shared_ptr<driver::Allocation> DeviceState::allocate_scratch(std::uint64_t size) const {
    return size == 0 ? nullptr : driver().allocate_scratch((size + 3) & ~std::uint64_t{3});
}

std::shared_ptr<driver::Allocation> DeviceState::zeros(std::uint64_t size) const {
    return driver().zeros(size);
}

std::shared_ptr<driver::Allocation> DeviceState::allocate_mapped(std::uint64_t size) const {
    return size == 0 ? nullptr : driver().allocate_mapped((size + 3) & ~std::uint64_t{3});
}

std::shared_ptr<LazyKernel> DeviceState::kernel(const manifest::Kernel& kernel) {
    if (root_) {
        return root_->kernel(kernel);
    }
    (void)driver();
    // The images' digests name the code; records and layouts are a function of the same source.
    std::string key = kernel.source_hash;
    for (const manifest::Image& image : kernel.images) {
        key += '/' + image.entry_point + '/';
        key.append(reinterpret_cast<const char*>(image.sha256.data()), image.sha256.size());
    }
    const std::lock_guard lock(mutex_);
    std::weak_ptr<LazyKernel>& entry = kernels_[key];
    std::shared_ptr<LazyKernel> shared = entry.lock();
    if (!shared) {
        shared = std::make_shared<LazyKernel>();
        entry = shared;
        if (kernels_.size() > 2 * kept_kernels_) {
            std::erase_if(kernels_, [](const auto& item) { return item.second.expired(); });
            kept_kernels_ = kernels_.size();
        }
    }
    return shared;
}

std::shared_ptr<driver::Sampler> DeviceState::sampler(const driver::SamplerDescription& description) {
    if (root_) {
        return root_->sampler(description);
    }
    constexpr std::size_t most_kept = 256;  // some drivers have room for 4000 in all
    driver::Device& device = driver();
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<driver::Sampler>& one : samplers_) {
        if (one->description == description) return one;
    }
    if (samplers_.size() >= most_kept) {
        std::erase_if(samplers_, [](const auto& one) { return one.use_count() == 1; });
    }
    return samplers_.emplace_back(device.make_sampler(description));
}

std::uint64_t DeviceState::next_id() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

Device make_device(std::shared_ptr<driver::Device> device) {
    return Device(DeviceState::make(std::move(device)));
}

DeviceInfo device_info(const driver::Info& info) {
    return {info.backend + ":" + std::to_string(info.index),
            info.backend,
            info.index,
            info.name,
            info.driver,
            info.is_cpu,
            info.memory,
            info.features};
}

std::string on_other_device(const Device& device, const DeviceState& own) {
    const std::string id = device.info().id;
    return "is on device " + id + ", the module on " + own.info().id +
           (id == own.info().id ? " (opened another time)" : "");
}

}  // namespace kf::detail
