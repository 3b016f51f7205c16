// Tensors of other libraries (PyTorch, CuPy, JAX, ...), as they lie in memory.
#pragma once

#include <kf/any_tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/given.h"
#include "python/context.h"
#include "python/dlpack_abi.h"

namespace kf::python {

enum class ForeignMemoryKind : std::uint8_t { host, cuda };

/// A tensor of another library.
struct ForeignTensor {
    /// __cuda_array_interface__ doesn't say which device it is.
    static constexpr int unknown_ordinal = -1;

    std::uint64_t address = 0;  ///< of the first element, on the host or on the device; 0 where there is none
    ForeignMemoryKind kind = ForeignMemoryKind::host;
    int ordinal = 0;  ///< CUDA's own number of the device
    ScalarType scalar = ScalarType::float32;
    bool read_only = false;
    Dims shape;
    Dims strides;                 ///< in elements
    std::shared_ptr<void> owner;  ///< keeps the memory; null where it is borrowed from a living object
    /// The CUDA stream behind whose work the elements are there; none where they are there already, or where
    /// all that uses them runs on one stream.
    std::optional<void*> stream;
    /// Whoever uses it sees to the order: calls on the library's current stream.
    bool is_in_order = false;

    [[nodiscard]] const std::byte* host() const { return reinterpret_cast<const std::byte*>(address); }
};

/// Returns the C exchange API of a class, asked for once in its lifetime; null where it offers none.
const dlpack::ExchangeApi* exchange_of(PyTypeObject* type);

/// Tells whether an object is a tensor of another library's: its class offers the exchange API, __dlpack__ or
/// __cuda_array_interface__, and is neither NumPy's nor ours. Asked for once for each class.
bool is_foreign(PyObject* value);

enum class Borrowing : std::uint8_t {
    taken,
    refused,  ///< its elements, its shape or its device are none of ours; `why` says so
    opaque,   ///< it has no memory that could be read, as wrappers of functorch and fake tensors
};

/// Reads a tensor by the exchange API of its class. Neither allocates nor synchronises; what is read is good
/// as long as the object lives and its storage isn't replaced.
///
/// What PyTorch 2.13 does here with tensors that aren't plain:
/// - `requires_grad`, leaves or not, nn.Parameter, tensors of inference mode, duals of forward-mode AD (their
///   primal) and subclasses without __torch_dispatch__: read as plain ones.
/// - the negative bit (`t.conj().imag`, is_neg()): read as if there were none, and with the wrong signs. Ask
///   is_neg(). The conjugate bit: complex, which is refused here anyway.
/// - wrappers of vmap, jvp and grad, sparse and mkldnn tensors: a RuntimeError, "opaque" here, as for what is
///   quantized, nested or on the meta device.
/// - FakeTensor, functionalize()'s wrappers, wrapper subclasses and zero tensors: a null pointer to elements,
///   "opaque" here. Of a FakeTensor PyTorch prints a warning: ask for its class first.
/// - under a dispatch mode or make_fx() without fake tensors: plain ones; nothing tells of the mode.
Borrowing borrow(const dlpack::ExchangeApi& api, PyObject* value, ForeignTensor& tensor,
                 detail::Refusal* why);

/// Returns why something can't be read, by the first line of an error: PyTorch lists C++ functions behind it.
[[nodiscard]] std::string unreadable_text(const py::error_already_set& error);

/// How a tensor is asked for by __dlpack__().
struct Reading {
    static constexpr std::intptr_t default_stream = 1;
    static constexpr std::intptr_t no_stream = -1;
    /// The stream that is to wait for the producer's work, in the protocol's words: the legacy default one,
    /// behind which ForeignTensor::stream then puts ours; or none, for what runs on the producer's own.
    std::intptr_t stream = default_stream;
};

/// Reads a tensor by __dlpack__, else by __cuda_array_interface__; or takes a capsule of DLPack's. Throws
/// what the object raises (PyTorch a BufferError where it requires gradients), and ArgumentError for what
/// kernels don't have.
ForeignTensor read_foreign(py::handle value, const Reading& reading, const Where& where);

/// Tells whether a tensor of PyTorch has its negative bit set: neither of its ways to export one
/// says so, and what they give has the wrong signs. Such a tensor's resolve_neg() is a plain copy.
bool is_negated(PyObject* value);

/// Sees host memory as a NumPy array, which keeps `base`, or else the tensor's owner.
py::array as_array(const ForeignTensor& tensor, py::handle base = {});

/// Returns the library's current stream on a CUDA device.
void* current_stream(const dlpack::ExchangeApi& api, int ordinal);

/// Sees CUDA memory as a tensor of `context`'s device, which must be the one that it is on. What comes later
/// on any stream is ordered after `stream`'s work so far; where there is no stream, only what runs on the
/// device's own stream or comes after it in the caller's order is safe. The owner is let go when no command
/// needs the memory. Two tensors over the same memory are ordered with each other on one stream only.
AnyTensor adopt(const ForeignTensor& tensor, const ContextPtr& context, const Where& where);

/// The same of the CPU's memory, on a device that is the processor itself; null where it can't. What runs on
/// the device is waited for before anybody reads the memory, or writes to it.
AnyTensor adopt_host(const ForeignTensor& tensor, const ContextPtr& context, const Where& where);

/// Lets others use a tensor's memory: `stream`, CUDA's handle, waits for what was issued with the tensor;
/// null is the legacy default stream, none no stream. Without Python's lock.
void lend(const AnyTensor& tensor, std::optional<void*> stream);
/// A copy on the same device, without gradients. Without Python's lock.
AnyTensor copy_on_device(const AnyTensor& tensor);

/// DLPack's word for an element type.
dlpack::DataType dlpack_type(ScalarType scalar);

/// "a float32 tensor of shape [2, 3] on cuda:0"
std::string describe(const ForeignTensor& tensor);

}  // namespace kf::python
