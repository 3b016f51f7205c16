// Calls of little data, written by hand in C: what ours are compared with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench_support {

/// What the kernels written by hand take.
struct AddBlock {
    std::uint64_t result = 0;
    std::int32_t a = 0;
    std::int32_t b = 0;
};
struct PolynomialBlock {
    std::uint64_t y = 0;
    std::uint64_t x = 0;
    float a = 0;
    float b = 0;
    float c = 0;
    std::uint32_t count = 0;
};

constexpr std::uint32_t small_group = 128;  ///< threads, of the polynomial

/// A way to make these calls: by commands that copy, or with kernels that use the host's memory. Each waits
/// for its result.
class HandCalls {
public:
    virtual ~HandCalls() = default;
    virtual int add(int a, int b) = 0;
    /// y = 2x² + 8x - 1
    virtual void polynomial(const std::vector<float>& x, std::vector<float>& y) = 0;
};

/// By name; `index` counts devices of the backend. Each keeps what it needs.
using NamedCalls = std::vector<std::pair<std::string, std::unique_ptr<HandCalls>>>;
NamedCalls cuda_by_hand(int index, const std::filesystem::path& ptx);
/// `folder` holds add.spv and small.spv.
NamedCalls vulkan_by_hand(int index, const std::filesystem::path& folder);

}  // namespace bench_support
