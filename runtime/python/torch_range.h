// A call's name in what PyTorch shows, its profiler above all.
#pragma once

#include <kf/pass_kind.h>

#include <string>

#include "python/common.h"

namespace kf::python {

struct FunctionInfo;

/// "f", "f.backward", "f.fused" or "f.jvp".
[[nodiscard]] std::string name_of_pass(const FunctionInfo& info, detail::PassKind pass);

/// A range "NAME.f" of PyTorch's profiler, as long as it lives and where one is on. Needs the GIL.
class TorchRange {
public:
    /// `takes_torch`: the call is given torch.Tensors.
    TorchRange(bool takes_torch, const FunctionInfo& info, detail::PassKind pass) {
        if (takes_torch) begin(info, pass);
    }
    ~TorchRange() {
        if (range_) end();
    }
    TorchRange(const TorchRange&) = delete;
    TorchRange& operator=(const TorchRange&) = delete;

private:
    void begin(const FunctionInfo& info, detail::PassKind pass);
    void end() noexcept;

    py::object range_;  ///< null where no profiler is on
};

}  // namespace kf::python
