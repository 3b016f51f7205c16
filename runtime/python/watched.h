// Calls that PyTorch watches: they go through Python, where autograd and tracing see them.
#pragma once

#include <kf/error.h>
#include <kf/pass_kind.h>

#include "python/configured_function.h"
#include "python/torch_state.h"

namespace kf::python {

/// Thrown where a call meets a tensor that is watched: nothing was done by then.
struct WatchedCall {
    bool by_autograd_alone;
};

/// What a call knows of the torch.Tensors that it is given.
class TorchCall {
public:
    explicit TorchCall(detail::PassKind pass) : pass_(pass) {}

    /// Notes a tensor, of kind `plain` or `dispatching`; throws WatchedCall where it is watched.
    void meet(const Torch& torch, TorchKind kind, PyObject* tensor);
    /// The first one; null for none.
    [[nodiscard]] const py::object& first() const { return first_; }

private:
    detail::PassKind pass_;
    py::object first_;
};

/// Notes the tensors among the arguments themselves.
void meet_tensors(const Arguments& arguments, detail::PassKind pass);

/// Makes the call of a kf.Function, `object`, through PyTorch, or says why it can't be.
py::object call_watched(const py::object& object, const Function& function, detail::PassKind pass,
                        bool is_recorded, const Arguments& arguments, const WatchedCall& watched);

/// Whether torch.autocast() is on.
bool is_autocast();

/// Whether a call was refused for its arguments' types while torch.autocast() is on, which may cast them.
bool is_refused_under_autocast(const ArgumentError& error);

/// Makes the call of a kf.Function, `object`, with its tensors cast as torch.autocast() says; null where
/// that casts none.
py::object call_with_casts(const py::object& object, const Arguments& arguments);

}  // namespace kf::python
