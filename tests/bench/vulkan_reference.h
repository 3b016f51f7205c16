// Kernels written by hand for Vulkan, dispatched as ours are: the same driver, commands and barriers.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/driver.h"
#include "strategies.h"

namespace bench_support {

/// The kernels that reference_strategies.comp was compiled to; adds to the same gradients that our kernels
/// do.
class HandWritten {
public:
    /// `folder` holds NAME.spv for each case. `driver` is the one below the tensors' device.
    HandWritten(std::shared_ptr<kf::driver::Device> driver, const std::filesystem::path& folder);

    /// The gradients of polynomial(a, b, c, x), tensors of one element but for x, whose size is a multiple of
    /// 4; y has its gradient.
    void polynomial(const kf::Tensor<float, 1>& a, const kf::Tensor<float, 1>& b,
                    const kf::Tensor<float, 1>& c, const kf::Tensor<float, 1>& x,
                    const kf::Tensor<float, 1>& y);
    /// The gradient of one weight that all calls read, weights[0] x: an atomic addition each. y has its
    /// gradient.
    void gather(const kf::Tensor<float, 1>& x, const kf::Tensor<float, 1>& y,
                const kf::Tensor<float, 1>& weights);
    /// The gradient of a table that each call reads at an index of its own, table[index] x: an atomic
    /// addition each. y has its gradient.
    void look_up(const kf::Tensor<float, 1>& x, const kf::Tensor<int, 1>& index,
                 const kf::Tensor<float, 1>& y, const kf::Tensor<float, 1>& table);
    /// The case of Strategies::cases() of that name.
    void run(const std::string& name, const StrategyInputs& inputs, const StrategySet& set);

private:
    struct Block;
    void dispatch(const std::string& name, std::uint32_t groups, const Block& block);
    [[nodiscard]] std::uint32_t resident(std::uint32_t threads) const;

    std::shared_ptr<kf::driver::Device> driver_;
    std::map<std::string, std::shared_ptr<kf::driver::Kernel>> kernels_;
    std::shared_ptr<kf::driver::Allocation> sums_;  ///< what groups of the half kernel add up in
};

}  // namespace bench_support
