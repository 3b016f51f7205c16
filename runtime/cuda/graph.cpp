// Commands as one CUDA graph.
#include "cuda/graph.h"

#include <kf/error.h>

#include <algorithm>
#include <array>

#include "core/dispatch.h"

namespace kf::cuda {
namespace {

/// The parameters of a kernel's node. Points to `block`, which must live as long.
class KernelNode {
public:
    KernelNode(const CudaKernel& kernel, const driver::Grid& groups, std::vector<std::byte>& block)
        : block_(block.data()) {
        const std::array<std::uint32_t, 3>& threads = kernel.group_size();
        parameters_.func = kernel.function();
        parameters_.gridDimX = groups[0];
        parameters_.gridDimY = groups[1];
        parameters_.gridDimZ = groups[2];
        parameters_.blockDimX = threads[0];
        parameters_.blockDimY = threads[1];
        parameters_.blockDimZ = threads[2];
        // The block is a kernel's one parameter.
        parameters_.kernelParams = block.empty() ? nullptr : &block_;
    }
    KernelNode(const KernelNode&) = delete;
    KernelNode& operator=(const KernelNode&) = delete;

    [[nodiscard]] const CUDA_KERNEL_NODE_PARAMS* get() const { return &parameters_; }

private:
    void* block_;
    CUDA_KERNEL_NODE_PARAMS parameters_;
};

}  // namespace

CudaGraph::CudaGraph(Commands commands, std::shared_ptr<Context> context)
    : context_(std::move(context)), commands_(std::move(commands)) {
    context_->check(context_->cu.cuGraphCreate(&graph_, 0), "cuGraphCreate");
}

CudaGraph::~CudaGraph() {
    if (!context_->process.is_here()) {
        return;
    }
    try {
        const Current current(*context_);
        // A graph that runs is freed once it is done; its memory goes back behind it, as any command's.
        if (runs_ != nullptr) {
            (void)context_->cu.cuGraphExecDestroy(runs_);
        }
        (void)context_->cu.cuGraphDestroy(graph_);
    } catch (...) {  // a lost device, or the end of the process: nothing is left to destroy
    }
}

std::vector<CUgraphNode> CudaGraph::before(std::span<const Access> accesses) const {
    std::vector<CUgraphNode> nodes;
    for (const Access& known : accesses_) {
        const bool conflicts = std::ranges::any_of(accesses, [&](const Access& access) {
            return (access.writes || known.writes) && access.low < known.high && known.low < access.high;
        });
        if (conflicts && std::ranges::find(nodes, known.node) == nodes.end()) {
            nodes.push_back(known.node);
        }
    }
    return nodes;
}

/// Forgets accesses whose memory is written over as a whole: later ones need only wait for the write.
void CudaGraph::note(std::span<const Access> accesses, CUgraphNode node) {
    std::erase_if(accesses_, [&](const Access& known) {
        return std::ranges::any_of(accesses, [&](const Access& access) {
            return access.writes && access.low <= known.low && known.high <= access.high;
        });
    });
    for (Access access : accesses) {
        access.node = node;
        accesses_.push_back(access);
    }
}

void CudaGraph::keep(driver::Allocation& allocation, bool writes) {
    for (driver::Use& known : uses_) {
        if (known.allocation == &allocation) {
            known.writes = known.writes || writes;
            return;
        }
    }
    owned_.add(allocation);
    uses_.emplace_back(&allocation, writes);
}

void CudaGraph::dispatch(const driver::Dispatch& dispatch) {
    const CudaKernel& kernel = commands_.check(dispatch);
    const Commands::Lowered lowered(dispatch);
    Dispatch made;
    made.kernel = dispatch.kernel->shared_from_this();
    made.groups = dispatch.groups;
    made.resources.assign(dispatch.resources.begin(), dispatch.resources.end());
    made.block.assign(lowered.block().begin(), lowered.block().end());
    if (!driver::is_empty(dispatch.groups)) {
        std::vector<Access> accesses;
        for (const driver::Use& use : lowered.uses()) {
            if (use.allocation == nullptr || use.allocation->size == 0) continue;
            const std::uint64_t low = use.allocation->address;
            accesses.push_back({low, low + use.allocation->size, use.writes});
            keep(*use.allocation, use.writes);
        }
        const std::vector<CUgraphNode> nodes = before(accesses);
        const KernelNode node(kernel, made.groups, made.block);
        const Current current(*context_);
        context_->check(
            context_->cu.cuGraphAddKernelNode_v2(&made.node, graph_, nodes.data(), nodes.size(), node.get()),
            "cuGraphAddKernelNode");
        note(accesses, made.node);
    }
    dispatches_.push_back(std::move(made));
}

void CudaGraph::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                     std::uint64_t size, std::uint32_t word) {
    commands_.check_fill(target.get(), offset, size);
    if (size == 0) {
        return;
    }
    const std::uint64_t low = target->address + offset;
    const std::array accesses{Access{low, low + size, true}};
    const std::vector<CUgraphNode> nodes = before(accesses);
    CUDA_MEMSET_NODE_PARAMS parameters;
    parameters.dst = low;
    parameters.value = word;
    parameters.elementSize = sizeof word;
    parameters.width = size / sizeof word;
    parameters.height = 1;
    CUgraphNode node = nullptr;
    const Current current(*context_);
    context_->check(context_->cu.cuGraphAddMemsetNode(&node, graph_, nodes.data(), nodes.size(), &parameters,
                                                      context_->handle()),
                    "cuGraphAddMemsetNode");
    note(accesses, node);
    keep(*target, true);
}

void CudaGraph::copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
                     const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
                     std::uint64_t size) {
    commands_.check_copy(target.get(), target_offset, source.get(), source_offset, size);
    if (size == 0) {
        return;
    }
    const std::uint64_t to = target->address + target_offset;
    const std::uint64_t from = source->address + source_offset;
    const std::array accesses{Access{to, to + size, true}, Access{from, from + size, false}};
    const std::vector<CUgraphNode> nodes = before(accesses);
    CUDA_MEMCPY3D parameters;
    parameters.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    parameters.srcDevice = from;
    parameters.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    parameters.dstDevice = to;
    parameters.WidthInBytes = size;
    parameters.Height = 1;
    parameters.Depth = 1;
    CUgraphNode node = nullptr;
    const Current current(*context_);
    context_->check(context_->cu.cuGraphAddMemcpyNode(&node, graph_, nodes.data(), nodes.size(), &parameters,
                                                      context_->handle()),
                    "cuGraphAddMemcpyNode");
    note(accesses, node);
    keep(*target, true);
    keep(*source, false);
}

void CudaGraph::set_block(std::size_t index, std::span<const std::byte> block) {
    Dispatch& dispatch = dispatches_[index];
    const Commands::Lowered lowered({dispatch.kernel.get(), dispatch.groups, block, {}, dispatch.resources});
    dispatch.block.assign(lowered.block().begin(), lowered.block().end());
    dispatch.is_changed = true;
    is_changed_ = true;
}

void CudaGraph::change(Dispatch& dispatch) {
    if (dispatch.node != nullptr) {
        const auto& kernel = static_cast<const CudaKernel&>(*dispatch.kernel);
        const KernelNode node(kernel, dispatch.groups, dispatch.block);
        context_->check(context_->cu.cuGraphExecKernelNodeSetParams_v2(runs_, dispatch.node, node.get()),
                        "cuGraphExecKernelNodeSetParams");
    }
    dispatch.is_changed = false;
}

void CudaGraph::launch(CUstream stream) {
    if (runs_ == nullptr) {
        context_->check(context_->cu.cuGraphInstantiateWithFlags(&runs_, graph_, 0), "cuGraphInstantiate");
    }
    if (is_changed_) {
        for (Dispatch& dispatch : dispatches_) {
            if (dispatch.is_changed) change(dispatch);
        }
        is_changed_ = false;
    }
    context_->check(context_->cu.cuGraphLaunch(runs_, stream), "cuGraphLaunch");
}

}  // namespace kf::cuda
