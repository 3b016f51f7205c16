// The CUDA driver: what the runtime's core calls.
#include "cuda/driver.h"

#include <kf/error.h>

#include "core/usable.h"
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
    std::vector<Physical> all;
    for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(describe(library, ordinal));
    return driver::usable(std::move(all), "cuda: the driver finds no device", why_not);
}

}  // namespace

std::vector<driver::Info> enumerate_cuda(std::string* why_not, const OpenOptions& options) {
    return driver::infos_of([&](std::string& reason) { return usable(*open_library(options), reason); },
                            why_not);
}

namespace {

std::shared_ptr<driver::Device> open(const std::shared_ptr<const Library>& library, Physical physical) {
    driver::Info info = physical.info;
    auto context = std::make_shared<Context>(library, std::move(physical));
    const Current current(*context);
    auto shared = std::make_shared<Shared>(context, std::move(info));
    std::shared_ptr<Stream> own = shared->own;
    return std::make_shared<CudaDevice>(std::move(shared), std::move(own));
}

}  // namespace

std::vector<driver::Candidate> find_cuda(std::string& why_not, const OpenOptions& options) {
    const auto find = [&](std::string& reason) {
        const std::shared_ptr<const Library> library = open_library(options);
        std::vector<driver::Candidate> found;
        for (Physical& physical : usable(*library, reason)) {
            found.push_back({physical.info, [library, physical] { return open(library, physical); }});
        }
        return found;
    };
    return driver::candidates_of(find, why_not);
}

std::shared_ptr<driver::Device> open_cuda(int index, const OpenOptions& options) {
    const std::shared_ptr<const Library> library = open_library(options);
    std::string why_not;
    std::vector<Physical> devices = usable(*library, why_not);
    return open(library, std::move(driver::device_at(devices, index, why_not)));
}

Statistics statistics(const driver::Device& device) {
    const auto* ours = dynamic_cast<const CudaDevice*>(&device);
    return ours == nullptr ? Statistics{} : ours->statistics();
}

}  // namespace kf::cuda
