// Dispatches the kernels written by hand for Vulkan.
#include "vulkan_reference.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "core/tensor_state.h"
#include "spirv_kernel.h"

namespace bench_support {

namespace {

constexpr std::uint32_t group = 256;  ///< threads
/// A processor of the GPUs that this is for runs 2048 threads at once.
constexpr std::uint32_t groups_each = 2048 / group;

std::uint32_t groups_of(std::uint32_t threads) { return (threads + group - 1) / group; }

}  // namespace

/// The push constants, and the memory that they name.
struct HandWritten::Block {
    std::vector<std::byte> bytes;
    std::vector<kf::driver::Use> uses;

    template <class T>
    Block& value(T value) {
        bytes.resize(bytes.size() + sizeof value);
        std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
        return *this;
    }
    template <class Tensor>
    Block& reads(const Tensor& tensor) {
        return uses_memory(tensor, false);
    }
    template <class Tensor>
    Block& writes(const Tensor& tensor) {
        return uses_memory(tensor, true);
    }
    Block& sizes(std::uint32_t count, std::uint32_t rows = 0, std::uint32_t columns = 0, float t = 0) {
        return value(count).value(rows).value(columns).value(t);
    }

private:
    template <class Tensor>
    Block& uses_memory(const Tensor& tensor, bool writes) {
        uses.push_back({tensor.any().state()->allocation, writes});
        return value(tensor.address());
    }
};

HandWritten::HandWritten(std::shared_ptr<kf::driver::Device> driver, const std::filesystem::path& folder)
    : driver_(std::move(driver)), sums_(driver_->allocate(4 * sizeof(float))) {
    driver_->fill(sums_, 0, sums_->size, 0);
    for (const char* name :
         {"polynomial", "rows", "columns", "injective", "half", "structs", "sums", "gather", "lookup"}) {
        kernels_[name] = driver_->load_kernel(
            spirv_kernel(folder / (std::string(name) + ".spv"), group, 80,
                         {"buffer_device_address", "float32_atomic_add", "subgroup_arithmetic"}));
    }
}

void HandWritten::dispatch(const std::string& name, std::uint32_t groups, const Block& block) {
    std::vector<std::byte> bytes = block.bytes;
    bytes.resize(80);
    kf::driver::Dispatch dispatch;
    dispatch.kernel = kernels_.at(name).get();
    dispatch.groups = {groups, 1, 1};
    dispatch.block = bytes;
    dispatch.uses = block.uses;
    driver_->dispatch(dispatch);
}

std::uint32_t HandWritten::resident(std::uint32_t threads) const {
    return std::min(groups_of(threads), driver_->info().processors * groups_each);
}

void HandWritten::polynomial(const kf::Tensor<float, 1>& a, const kf::Tensor<float, 1>& b,
                             const kf::Tensor<float, 1>& c, const kf::Tensor<float, 1>& x,
                             const kf::Tensor<float, 1>& y) {
    const auto quads = static_cast<std::uint32_t>(x.size() / 4);
    Block block;
    block.reads(a).reads(b).reads(x).reads(y.grad_in());
    block.writes(a.grad_out()).writes(b.grad_out()).writes(c.grad_out()).writes(x.grad_out());
    dispatch("polynomial", resident(quads), block.sizes(quads));
}

void HandWritten::gather(const kf::Tensor<float, 1>& x, const kf::Tensor<float, 1>& y,
                         const kf::Tensor<float, 1>& weights) {
    const auto count = static_cast<std::uint32_t>(x.size());
    Block block;
    block.reads(x).reads(y.grad_in()).writes(weights.grad_out());
    dispatch("gather", resident(count), block.sizes(count));
}

void HandWritten::look_up(const kf::Tensor<float, 1>& x, const kf::Tensor<int, 1>& index,
                          const kf::Tensor<float, 1>& y, const kf::Tensor<float, 1>& table) {
    const auto count = static_cast<std::uint32_t>(x.size());
    Block block;
    block.reads(x).reads(index).reads(y.grad_in()).writes(table.grad_out());
    dispatch("lookup", resident(count), block.sizes(count));
}

void HandWritten::run(const std::string& name, const StrategyInputs& inputs, const StrategySet& set) {
    const auto rows = static_cast<std::uint32_t>(set.x.shape()[0]);
    const std::uint32_t wide = static_cast<std::uint32_t>(set.x.shape()[1]) / 4;
    Block block;
    if (name == "half") {
        const auto runs = static_cast<std::uint32_t>(set.half_x.size() / 8);
        block.reads(inputs.a).reads(inputs.b).reads(set.half_x).reads(set.half_flow);
        block.uses.push_back({sums_, true});
        block.value(sums_->address);
        block.writes(inputs.a.grad_out()).writes(inputs.b.grad_out()).writes(inputs.c.grad_out());
        dispatch(name, resident(runs), block.writes(set.half_x.grad_out()).sizes(runs));
        return;
    }
    if (name == "structs") {
        const auto rays = static_cast<std::uint32_t>(set.rays.size());
        block.reads(set.ray_flow).writes(set.rays.grad_out());
        dispatch(name, groups_of(rays), block.sizes(rays, 0, 0, 0.5F));
        return;
    }
    if (name == "sums") {
        const kf::detail::TensorState& total = *set.total.any().state();
        driver_->fill(total.allocation, total.offset, sizeof(float), 0);
        dispatch(name, resident(rows * wide), block.reads(set.x).writes(set.total).sizes(rows * wide));
        return;
    }
    const kf::Tensor<float, 2>& w = name == "rows"      ? inputs.per_row
                                    : name == "columns" ? inputs.per_column
                                                        : inputs.per_call;
    block.reads(set.x).reads(w).reads(set.flow).writes(set.x.grad_out()).writes(w.grad_out());
    constexpr std::uint32_t along = 64;
    constexpr std::uint32_t tall = 16 * (group / along);
    const std::uint32_t groups = name == "rows"      ? rows
                                 : name == "columns" ? (wide + along - 1) / along * ((rows + tall - 1) / tall)
                                                     : groups_of(rows * wide);
    dispatch(name, groups, block.sizes(rows * wide, rows, wide));
}

}  // namespace bench_support
