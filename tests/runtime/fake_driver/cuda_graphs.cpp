// The fake CUDA driver's graphs.
#include "runtime/fake_driver/cuda_world.h"

namespace kf::test::fake_cuda {
namespace {

/// Null for what a real driver doesn't take, no groups, and for blocks that are packed as a whole, by
/// `extra`.
Operation node_operation(const CUDA_KERNEL_NODE_PARAMS& given) {
    if (given.extra != nullptr || given.gridDimX * given.gridDimY * given.gridDimZ == 0) {
        return nullptr;
    }
    std::vector<std::byte> block;
    if (given.kernelParams != nullptr) {
        const auto* bytes = static_cast<const std::byte*>(given.kernelParams[0]);
        block.assign(bytes, bytes + world->fake->block_sizes.at(of(given.func)->entry));
    }
    return kernel_operation(*of(given.func), {given.gridDimX, given.gridDimY, given.gridDimZ},
                            {given.blockDimX, given.blockDimY, given.blockDimZ}, std::move(block));
}

CUgraphNode add_node(Graph* graph, const CUgraphNode* before, std::size_t count, Operation operation) {
    auto node = std::make_unique<Node>();
    node->operation = std::move(operation);
    for (std::size_t i = 0; i < count; ++i) node->before.push_back(of(before[i]));
    graph->nodes.push_back(std::move(node));
    return handle<CUgraphNode>(graph->nodes.back().get());
}

}  // namespace

CUresult cuGraphCreate(CUgraph* graph, unsigned) {
    KF_ENTER(cuGraphCreate)
    world->graphs.push_back(std::make_unique<Graph>());
    *graph = handle<CUgraph>(world->graphs.back().get());
    return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
    KF_ENTER(cuGraphDestroy)
    of(graph)->destroyed = true;
    return CUDA_SUCCESS;
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
    KF_ENTER(cuGraphAddKernelNode_v2)
    KF_NEED(cuGraphAddKernelNode_v2, of(parameters->func)->context)
    Operation operation = node_operation(*parameters);
    if (operation == nullptr) {
        return 1;
    }
    *node = add_node(of(graph), before, count, std::move(operation));
    return CUDA_SUCCESS;
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, std::size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
    KF_ENTER(cuGraphAddMemsetNode)
    if (parameters->elementSize != 4 || parameters->height != 1) {
        return 1;
    }
    check_memory("cuGraphAddMemsetNode", parameters->dst, 4 * parameters->width);
    *node = add_node(of(graph), before, count, [given = *parameters] {
        for (std::size_t i = 0; i < given.width; ++i) std::memcpy(at(given.dst) + 4 * i, &given.value, 4);
    });
    return CUDA_SUCCESS;
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, std::size_t count,
                              const CUDA_MEMCPY3D* parameters, CUcontext) {
    KF_ENTER(cuGraphAddMemcpyNode)
    if (parameters->srcMemoryType != CU_MEMORYTYPE_DEVICE ||
        parameters->dstMemoryType != CU_MEMORYTYPE_DEVICE || parameters->Height != 1 ||
        parameters->Depth != 1) {
        return 1;
    }
    check_memory("cuGraphAddMemcpyNode", parameters->dstDevice, parameters->WidthInBytes);
    check_memory("cuGraphAddMemcpyNode", parameters->srcDevice, parameters->WidthInBytes);
    *node = add_node(of(graph), before, count, [given = *parameters] {
        std::memcpy(at(given.dstDevice), at(given.srcDevice), given.WidthInBytes);
    });
    return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* runs, CUgraph graph, unsigned long long) {
    KF_ENTER(cuGraphInstantiateWithFlags)
    auto made = std::make_unique<GraphExec>();
    std::vector<const Node*> left;
    for (const auto& node : of(graph)->nodes) {
        left.push_back(node.get());
        made->operations[node.get()] = node->operation;
    }
    while (!left.empty()) {
        const auto is_done = [&](const Node* node) {
            return std::find(left.begin(), left.end(), node) == left.end();
        };
        const auto next = std::find_if(left.rbegin(), left.rend(), [&](const Node* node) {
            return std::all_of(node->before.begin(), node->before.end(), is_done);
        });
        if (next == left.rend()) {
            return 1;  // a circle
        }
        made->order.push_back(*next);
        left.erase(std::next(next).base());
    }
    world->execs.push_back(std::move(made));
    *runs = handle<CUgraphExec>(world->execs.back().get());
    return CUDA_SUCCESS;
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec runs, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters) {
    KF_ENTER(cuGraphExecKernelNodeSetParams_v2)
    Operation operation = node_operation(*parameters);
    if (operation == nullptr) {
        return 1;
    }
    of(runs)->operations.at(of(node)) = std::move(operation);
    return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec runs, CUstream stream) {
    KF_ENTER(cuGraphLaunch)
    Stream* found = find("cuGraphLaunch", stream);
    KF_NEED(cuGraphLaunch, found->context)
    if (of(runs)->destroyed) {
        violation("cuGraphLaunch: the graph is gone");
    }
    // As it is now: later changes are for later launches.
    for (const Node* node : of(runs)->order) enqueue(*found, of(runs)->operations.at(node));
    return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec runs) {
    KF_ENTER(cuGraphExecDestroy)
    of(runs)->destroyed = true;
    return CUDA_SUCCESS;
}

}  // namespace kf::test::fake_cuda
