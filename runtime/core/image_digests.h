// SHA-256 of images, whose bytes many kernels share: each distinct one is computed once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "core/sha256.h"
#include "core/shared_bytes.h"

namespace kf {

class ImageDigests {
public:
    /// Told apart by their address: `bytes` must stay alive as long as this.
    const std::array<std::uint8_t, 32>& of(const SharedBytes& bytes) {
        const auto [entry, is_new] = digests_.try_emplace(bytes.data());
        if (is_new) entry->second = sha256(bytes.span());
        return entry->second;
    }

private:
    std::map<const std::byte*, std::array<std::uint8_t, 32>> digests_;
};

}  // namespace kf
