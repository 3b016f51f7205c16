// A call's name in what PyTorch shows, its profiler above all.
#include "python/torch_range.h"

#include "core/items.h"
#include "python/function.h"
#include "python/torch_state.h"

namespace kf::python {

std::string name_of_pass(const FunctionInfo& info, detail::PassKind pass) {
    const std::string& name = info.function.name;
    if (pass == detail::PassKind::backward) return name + ".backward";
    if (pass == detail::PassKind::fused) return name + ".fused";
    return manifest::is_jvp(info.function) ? name + ".jvp" : name;
}

void TorchRange::begin(const FunctionInfo& info, detail::PassKind pass) {
    const Torch& torch = *Torch::loaded();
    if (!torch.is_profiled()) return;
    range_ = torch.begin_range(info.artifact->manifest.name + "." + name_of_pass(info, pass));
}

void TorchRange::end() noexcept {
    try {
        (void)range_.attr("__exit__")(py::none(), py::none(), py::none());
    } catch (py::error_already_set& error) {
        error.discard_as_unraisable("the end of a range of PyTorch's profiler");
    }
}

}  // namespace kf::python
