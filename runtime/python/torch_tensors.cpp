// torch.Tensors as calls see them.
#include "python/torch_tensors.h"

#include "core/describe.h"
#include "python/attributes.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

using detail::refused;

/// Why a tensor has no memory that kernels could read, if it is for what it is.
std::string kind_text(const py::object& tensor) {
    const auto is = [&](const char* name) {
        return py::cast<bool>(py::getattr(tensor, name, py::bool_(false)));
    };
    if (is("is_meta")) return "a meta tensor is given, which has no elements";
    if (is("is_quantized")) return "a quantized tensor is given: x.dequantize() gives its numbers";
    if (is("is_nested")) return "a nested tensor is given: give a plain one";
    const auto layout = std::string(py::str(py::getattr(tensor, "layout", py::none())));
    if (layout != "torch.strided")
        return "a tensor of layout " + layout + " is given: x.to_dense() makes a plain one";
    return {};
}

/// Makes a tensor's device PyTorch's current one for a while: __dlpack__() exports from no other.
class CurrentDevice {
public:
    explicit CurrentDevice(const py::object& tensor)
        : guard_(py::module_::import("torch").attr("cuda").attr("device_of")(tensor)) {
        guard_.attr("__enter__")();
    }
    ~CurrentDevice() {
        try {
            guard_.attr("__exit__")(py::none(), py::none(), py::none());
        } catch (py::error_already_set& error) {
            error.discard_as_unraisable("torch.cuda.device_of");
        }
    }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    py::object guard_;
};

/// Reads by __dlpack__, as versions before 2.10 have it.
Borrowing read_by_protocol(const py::object& tensor, ForeignTensor& memory, detail::Refusal& fault) {
    try {
        const CurrentDevice current(tensor);
        memory = read_foreign(tensor.attr("detach")(), Reading{Reading::no_stream}, {});
        return Borrowing::taken;
    } catch (const ArgumentError& error) {
        // Whoever reports it says of which argument.
        fault = {error.code(), std::string(error.what()).substr(prefix({}).size())};
        return Borrowing::refused;
    } catch (py::error_already_set& error) {
        if (!error.matches(PyExc_Exception)) throw;
        fault = {ErrorCode::type_mismatch, unreadable_text(error)};
        return Borrowing::opaque;
    }
}

Borrowing read(const py::object& tensor, ForeignTensor& memory, detail::Refusal& fault) {
    const dlpack::ExchangeApi* const api = exchange_of(Py_TYPE(tensor.ptr()));
    return api != nullptr ? borrow(*api, tensor.ptr(), memory, &fault)
                          : read_by_protocol(tensor, memory, fault);
}

void see(TorchTensor& seen, const py::object& tensor) {
    if (seen.memory.kind == ForeignMemoryKind::host) {
        seen.array = as_array(seen.memory, tensor);
        return;
    }
    const ContextPtr context = cuda_context(seen.memory.ordinal);
    seen.on_device = {lend(seen.memory, context), context};
}

}  // namespace

std::unique_ptr<TorchTensor> see_torch(const Torch& torch, const py::object& tensor) {
    auto seen = std::make_unique<TorchTensor>();
    seen->given = tensor;
    const Borrowing found = read(tensor, seen->memory, seen->fault);
    if (found == Borrowing::opaque && torch.is_transforming()) throw WatchedCall{false};
    if (found != Borrowing::taken) {
        if (std::string text = kind_text(tensor); !text.empty())
            seen->fault = {ErrorCode::type_mismatch, std::move(text)};
        return seen;
    }
    if (!torch.is_negative(tensor.ptr())) {
        see(*seen, tensor);
        return seen;
    }
    const py::object resolved = tensor.attr("resolve_neg")();
    seen->is_copy = true;
    (void)read(resolved, seen->memory, seen->fault);
    see(*seen, resolved);
    // The array has a reference of its own, and CUDA's memory needs one.
    if (!seen->array) seen->memory.owner = shared_owner(resolved);
    return seen;
}

std::string place_text(const ForeignTensor& memory) {
    return memory.kind == ForeignMemoryKind::host ? "cpu" : "cuda:" + std::to_string(memory.ordinal);
}

AnyTensor lend(const ForeignTensor& memory, const ContextPtr& context) {
    ForeignTensor borrowed = memory;
    borrowed.owner = nullptr;
    borrowed.stream.reset();
    borrowed.is_in_order = true;
    return adopt(borrowed, context, {});
}

AnyTensor keep_torch(const TorchTensor& tensor, const ContextPtr& context) {
    ForeignTensor kept = tensor.memory;
    if (!kept.owner) kept.owner = shared_owner(tensor.given);
    kept.stream = current_stream(tensor);
    return adopt(kept, context, {});
}

std::unique_ptr<TorchTensor> make_torch(const Torch& torch, const Dims& shape, ScalarType scalar,
                                        const py::object& device) {
    return see_torch(torch, torch.empty(to_tuple(shape), scalar, device));
}

void* current_stream(const TorchTensor& tensor) {
    const int ordinal = tensor.memory.ordinal;
    if (const dlpack::ExchangeApi* const api = exchange_of(Py_TYPE(tensor.given.ptr())))
        return current_stream(*api, ordinal);
    const py::object stream = py::module_::import("torch").attr("cuda").attr("current_stream")(ordinal);
    return PyLong_AsVoidPtr(py::object(stream.attr("cuda_stream")).ptr());
}

std::string shown_torch(const py::handle tensor) {
    const auto text = [&](const char* name) { return std::string(py::str(tensor.attr(name))); };
    std::string dtype = text("dtype");
    if (dtype.starts_with("torch.")) dtype.erase(0, 6);
    std::string shape;
    for (const py::handle extent : py::tuple(tensor.attr("shape")))
        shape += (shape.empty() ? "" : ", ") + std::string(py::str(extent));
    return detail::with_article(dtype) + " torch.Tensor of shape [" + shape + "] on " + text("device");
}

}  // namespace kf::python
