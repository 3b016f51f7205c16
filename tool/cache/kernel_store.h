// Compiled kernels kept in a folder between runs.
#pragma once

#include <optional>
#include <string>

#include "cache/content_cache.h"
#include "kernels/compile.h"

namespace kf::gen {

class CachedKernelStore final : public KernelStore {
public:
    /// `cache` must outlive the store.
    explicit CachedKernelStore(ContentCache& cache) : cache_(cache) {}

    std::optional<CompiledKernel> find(const std::string& key) override;
    void keep(const std::string& key, const CompiledKernel& kernel) override;

private:
    ContentCache& cache_;
};

/// A kernel as bytes (CBOR) and back; nothing when the bytes are not a kernel's.
std::string kernel_to_bytes(const CompiledKernel& kernel);
std::optional<CompiledKernel> kernel_from_bytes(const std::string& bytes);

}  // namespace kf::gen
