// What all handles of one device share.
#include "core/device_state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/observers.h"
#include "core/reports.h"

namespace kf::detail {

namespace {

/// What the environment variable KF_CHECK asks for.
Check check_of_environment() {
    const char* const value = std::getenv("KF_CHECK");
    const std::string_view text = value == nullptr ? "" : value;
    if (text.empty() || text == "0") return Check::nothing;
    if (text == "nan") return Check::nan;
    throw ArgumentError(ErrorCode::unknown_name,
                        "KF_CHECK=" + std::string(text) + ": this runtime knows KF_CHECK=nan");
}

}  // namespace

DeviceState::DeviceState(std::shared_ptr<driver::Device> device)
    : driver_(std::move(device)), info_(device_info(driver_->info())) {
    const bool watches_nan = check_of_environment() == Check::nan;
    const Nvtx* const nvtx = Nvtx::of_process();
    const bool shows_labels = driver_->shows_labels();
    if (!watches_nan && nvtx == nullptr && !shows_labels) return;
    observe([&](Observers& observers) {
        observers.watch_nan(watches_nan);
        observers.show_labels(nvtx, shows_labels);
    });
}

DeviceState::DeviceState(std::shared_ptr<DeviceState> root, std::shared_ptr<driver::Device> on_stream)
    : root_(std::move(root)), driver_(std::move(on_stream)) {}

DeviceState::~DeviceState() = default;

void DeviceState::observe(const std::function<void(Observers&)>& change) {
    if (root_) return root_->observe(change);
    const std::lock_guard lock(mutex_);
    if (!observers_) observers_ = std::make_unique<Observers>();
    change(*observers_);
    active_observers_.store(observers_->is_needed() ? observers_.get() : nullptr, std::memory_order_release);
}

Reports& DeviceState::reports() {
    if (root_) return root_->reports();
    if (Reports* const known = active_reports_.load(std::memory_order_acquire)) return *known;
    constexpr std::uint64_t size = Reports::words * sizeof(std::uint32_t);
    const std::shared_ptr<driver::Allocation> buffer = allocate(size);
    driver().fill(buffer, 0, size, 0);
    const std::lock_guard lock(mutex_);
    if (!reports_) reports_ = std::make_unique<Reports>(buffer);
    active_reports_.store(reports_.get(), std::memory_order_release);
    return *reports_;
}

std::shared_lock<std::shared_mutex> DeviceState::launching() const {
    const Reports* const reports = root()->active_reports_.load(std::memory_order_acquire);
    return reports == nullptr ? std::shared_lock<std::shared_mutex>() : reports->launching();
}

void DeviceState::take_reports() const {
    Reports* const reports = root()->active_reports_.load(std::memory_order_acquire);
    if (reports == nullptr || !can_read_back(driver())) return;
    std::function<void(const std::string&)> show;
    {
        const std::lock_guard lock(root()->mutex_);
        show = root()->show_line_;
    }
    if (!show) show = [](const std::string& line) { (void)std::fwrite(line.data(), 1, line.size(), stdout); };
    reports->take(driver(), show);
}

void DeviceState::show_lines(std::function<void(const std::string&)> show) {
    if (root_) return root_->show_lines(std::move(show));
    const std::lock_guard lock(mutex_);
    show_line_ = std::move(show);
}

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
    for (const manifest::ChosenConstant& constant : kernel.chosen)
        key += '/' + std::to_string(constant.number) + '=' + std::to_string(constant.bits);
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
