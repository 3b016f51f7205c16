// The CUDA driver: what the runtime's core calls.
#include "cuda/driver.h"

#include <kf/error.h>

#include "core/join.h"
#include "cuda/device.h"
#include "cuda/result.h"

namespace kf::cuda {
namespace {

std::shared_ptr<const Library> open_library(const OpenOptions& options) {
    if (options.lookup != nullptr) {
        return std::make_shared<const Library>(options.lookup);
    }
    return std::make_shared<const Library>(options.library);
}

/// The usable devices, with their indices; where there are none, `why_not` says why.
std::vector<Physical> usable(const Library& library, std::string& why_not) {
    int count = 0;
    check(library.functions(), library.functions().cuDeviceGetCount(&count), "cuDeviceGetCount");
    std::vector<Physical> found;
    std::string lacking;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        Physical physical = describe(library, ordinal);
        if (physical.lacking.empty()) {
            physical.info.index = static_cast<int>(found.size());
            found.push_back(std::move(physical));
        } else {
            lacking +=
                (lacking.empty() ? "" : "; ") + physical.info.name + " lacks " + join(physical.lacking);
        }
    }
    if (found.empty()) {
        why_not = lacking.empty() ? "cuda: the driver finds no device" : "cuda: " + lacking;
    }
    return found;
}

}  // namespace

std::vector<driver::Info> enumerate_cuda(std::string* why_not, const OpenOptions& options) {
    std::vector<driver::Info> infos;
    std::string reason;
    try {
        const std::shared_ptr<const Library> library = open_library(options);
        for (Physical& physical : usable(*library, reason)) {
            infos.push_back(std::move(physical.info));
        }
    } catch (const DeviceError& error) {
        infos.clear();
        reason = error.what();
    }
    if (why_not != nullptr) {
        *why_not = reason;
    }
    return infos;
}

std::shared_ptr<driver::Device> open_cuda(int index, const OpenOptions& options) {
    const std::shared_ptr<const Library> library = open_library(options);
    std::string why_not;
    std::vector<Physical> devices = usable(*library, why_not);
    if (index < 0 || static_cast<std::size_t>(index) >= devices.size()) {
        throw DeviceError(ErrorCode::no_device, devices.empty()
                                                    ? why_not
                                                    : "cuda: there is no device " + std::to_string(index) +
                                                          "; there are " + std::to_string(devices.size()));
    }
    Physical& physical = devices[static_cast<std::size_t>(index)];
    driver::Info info = physical.info;
    auto context = std::make_shared<Context>(library, std::move(physical));
    const Current current(*context);
    auto shared = std::make_shared<Shared>(context, std::move(info));
    std::shared_ptr<Stream> own = shared->own;
    return std::make_shared<CudaDevice>(std::move(shared), std::move(own));
}

Statistics statistics(const driver::Device& device) {
    const auto* ours = dynamic_cast<const CudaDevice*>(&device);
    return ours == nullptr ? Statistics{} : ours->statistics();
}

}  // namespace kf::cuda
