// Which of a kernel's images a GPU can run.
#include "cuda/images.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace kf::cuda {
namespace {

/// Returns the image's rank, of which a larger one is better; nothing when the image can't run.
std::optional<std::tuple<int, Capability, int>> rank(const manifest::Image& image, const Capability& device) {
    const std::optional<Architecture> architecture = Architecture::parse(image.architecture);
    if (!architecture || architecture->capability > device) {
        return std::nullopt;
    }
    const Capability& made_for = architecture->capability;
    if (architecture->suffix == 'a' && made_for != device) {
        return std::nullopt;
    }
    if (architecture->suffix == 'f' && made_for.major != device.major) {
        return std::nullopt;
    }
    // The more special one is the faster one.
    const int special = architecture->suffix == 'a' ? 2 : architecture->suffix == 'f' ? 1 : 0;
    if (image.format == "cubin" && made_for.major == device.major) {
        return std::tuple(1, made_for, special);
    }
    if (image.format == "ptx") {
        return std::tuple(0, made_for, special);
    }
    return std::nullopt;
}

}  // namespace

std::optional<Architecture> Architecture::parse(std::string_view text) {
    for (const std::string_view prefix : {"sm_", "compute_"}) {
        if (!text.starts_with(prefix)) {
            continue;
        }
        const std::string_view rest = text.substr(prefix.size());
        int number = 0;
        const char* end = rest.data() + rest.size();
        const auto [stop, error] = std::from_chars(rest.data(), end, number);
        const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
        if (error != std::errc() || number < 10 || number > 9999 ||
            !(suffix.empty() || suffix == "a" || suffix == "f")) {
            return std::nullopt;
        }
        return Architecture{{number / 10, number % 10}, suffix.empty() ? char{0} : suffix.front()};
    }
    return std::nullopt;
}

std::vector<const manifest::Image*> choose_images(const manifest::Kernel& kernel, const Capability& device) {
    std::vector<const manifest::Image*> images;
    for (const manifest::Image& image : kernel.images) {
        if (rank(image, device)) {
            images.push_back(&image);
        }
    }
    std::stable_sort(images.begin(), images.end(),
                     [&](const auto* a, const auto* b) { return *rank(*b, device) < *rank(*a, device); });
    return images;
}

std::string image_name(const manifest::Image& image) {
    return image.format + (image.architecture.empty() ? "" : " " + image.architecture);
}

}  // namespace kf::cuda
