// A call's name in what PyTorch's profiler shows.
#include "python/torch_range.h"

#include <string>

#include "core/items.h"
#include "python/function.h"
#include "python/torch_state.h"

namespace kf::python {

void TorchRange::begin(const FunctionInfo& info, detail::PassKind pass) {
    const Torch& torch = *Torch::loaded();
    if (!torch.is_profiled()) return;
    std::string name = info.artifact->manifest.name + "." + info.function.name;
    if (pass == detail::PassKind::backward) name += ".backward";
    if (pass == detail::PassKind::fused) name += ".fused";
    if (manifest::is_jvp(info.function)) name += ".jvp";
    range_ = torch.begin_range(name);
}

void TorchRange::end() noexcept {
    try {
        (void)range_.attr("__exit__")(py::none(), py::none(), py::none());
    } catch (py::error_already_set& error) {
        error.discard_as_unraisable("the end of a range of PyTorch's profiler");
    }
}

}  // namespace kf::python
