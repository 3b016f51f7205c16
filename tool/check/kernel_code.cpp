// Compares digests of images.
#include "check/kernel_code.h"

#include <string>
#include <vector>

namespace kf::check {

namespace {

std::vector<std::string> digests(const manifest::Manifest& manifest, std::size_t function, std::size_t call) {
    std::vector<std::string> found;
    const manifest::Call& made = manifest.functions[function].calls[call];
    for (const manifest::Pass& pass : {made.forward, made.forward_deterministic}) {
        for (const auto& [variant, index] : pass.kernels()) {
            if (index < 0) continue;
            for (const manifest::Image& image : manifest.kernels[static_cast<std::size_t>(index)].images) {
                found.emplace_back(reinterpret_cast<const char*>(image.sha256.data()), image.sha256.size());
            }
        }
    }
    return found;
}

}  // namespace

bool has_other_code(const manifest::Manifest& manifest, const manifest::Manifest& other, std::size_t function,
                    std::size_t call) {
    return digests(manifest, function, call) != digests(other, function, call);
}

}  // namespace kf::check
