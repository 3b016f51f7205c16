// Commands as one CUDA graph, which is launched often.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/driver.h"
#include "core/owners.h"
#include "cuda/commands.h"

namespace kf::cuda {

/// The graph of driver::Device::make_graph(). Commands that touch the same bytes, one of them writing, are in
/// order; others may run at the same time. Owns what it uses. One thread at a time.
class CudaGraph final : public driver::Graph {
public:
    CudaGraph(Commands commands, std::shared_ptr<Context> context);
    ~CudaGraph() override;
    CudaGraph(const CudaGraph&) = delete;
    CudaGraph& operator=(const CudaGraph&) = delete;

    void dispatch(const driver::Dispatch& dispatch) override;
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override;
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override;
    void set_block(std::size_t index, std::span<const std::byte> block) override;

    [[nodiscard]] const Context* context() const { return context_.get(); }
    /// All memory that the graph uses, each piece once.
    [[nodiscard]] std::span<const driver::Use> uses() const { return uses_; }
    /// Launches it; needs the context to be current.
    void launch(CUstream stream);

private:
    /// A kernel's node, null where its grid is empty.
    struct Dispatch {
        CUgraphNode node = nullptr;
        std::shared_ptr<driver::Kernel> kernel;
        driver::Grid groups{};
        std::vector<driver::Resource> resources;
        std::vector<std::byte> block;  ///< with its resources' handles
        bool is_changed = false;       ///< since the graph was last launched
    };
    /// Bytes [low, high) that a node touches.
    struct Access {
        std::uint64_t low = 0;
        std::uint64_t high = 0;
        bool writes = false;
        CUgraphNode node = nullptr;
    };

    [[nodiscard]] std::vector<CUgraphNode> before(std::span<const Access> accesses) const;
    void note(std::span<const Access> accesses, CUgraphNode node);
    void keep(driver::Allocation& allocation, bool writes);
    void change(Dispatch& dispatch);

    std::shared_ptr<Context> context_;
    Commands commands_;
    CUgraph graph_ = nullptr;
    CUgraphExec runs_ = nullptr;  ///< made of it when it is first launched
    std::vector<Dispatch> dispatches_;
    bool is_changed_ = false;  ///< one of them is
    std::vector<Access> accesses_;
    std::vector<driver::Use> uses_;
    Owners<driver::Allocation> owned_;
};

}  // namespace kf::cuda
