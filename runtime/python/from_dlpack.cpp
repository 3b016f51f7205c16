// kf.Tensor.from_dlpack() and kf.Buffer.from_dlpack().
#include "python/from_dlpack.h"

#include <utility>

#include "core/tensor_state.h"
#include "python/buffer.h"
#include "python/errors.h"
#include "python/foreign.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

/// Whether a copy must (True), may (None) or must not (False) be made.
enum class Copying : std::uint8_t { always, if_needed, never };

Copying copying_of(py::handle copy, const Where& where) {
    if (copy.is_none()) return Copying::if_needed;
    if (PyBool_Check(copy.ptr()) == 0)
        refuse(ErrorCode::type_mismatch, {where.owner, "copy"},
               "True, False or None is needed, not " + shown(copy));
    return copy.ptr() == Py_True ? Copying::always : Copying::never;
}

/// What is asked of one from_dlpack().
struct Request {
    py::handle device;
    Copying copying = Copying::if_needed;
    bool writes = false;      ///< the result may be written to
    bool contiguous = false;  ///< it must be
    Where where;
};

[[noreturn]] void refuse_copy(const Request& request, const std::string& why) {
    refuse(ErrorCode::value_range, request.where,
           why + ": copy=False can't be kept; leave it out to get a copy");
}

AnyTensor copy_of(const Tensor& tensor, const ContextPtr& context) {
    const AnyTensor any = tensor.any;
    if (!(any.device() == context->device())) return upload(context->device(), download(tensor), {});
    const GilRelease release;
    return copy_on_device(any);
}

/// The tensor on its own CUDA device, found by trying where the object doesn't say which it is.
Tensor adopt_where_it_is(const ForeignTensor& tensor, const Where& where) {
    if (tensor.ordinal != ForeignTensor::unknown_ordinal) {
        const ContextPtr context = cuda_context(tensor.ordinal);
        return {adopt(tensor, context, where), context};
    }
    for (int ordinal = 0;; ++ordinal) {
        const ContextPtr context = cuda_context(ordinal);  // throws after the last one
        try {
            return {adopt(tensor, context, where), context};
        } catch (const ArgumentError& error) {
            if (error.code() != ErrorCode::device_mismatch) throw;
        }
    }
}

Tensor shared_or_copied(const Tensor& tensor, bool read_only, const Request& request) {
    const ContextPtr context =
        request.device.is_none() ? tensor.context : context_of(request.device, request.where);
    const bool is_here = context->device() == tensor.context->device();
    const bool must_copy =
        !is_here || (request.writes && read_only) || (request.contiguous && !tensor.any.is_contiguous());
    if (request.copying == Copying::never && must_copy) {
        refuse_copy(request, !is_here    ? "the tensor is copied to " + context->device().info().id
                             : read_only ? "it is read-only, and may be written to here"
                                         : "the tensor isn't contiguous, as buffers are");
    }
    const bool copies = request.copying == Copying::always || must_copy;
    return {copies ? copy_of(tensor, context) : tensor.any.without_grads(), context, tensor.structure};
}

Tensor from_host(const ForeignTensor& tensor, const Request& request) {
    const ContextPtr context = context_of(request.device, request.where);
    if (request.copying == Copying::never) {
        const bool may_share = !(request.writes && tensor.read_only);
        const Tensor shared{may_share ? adopt_host(tensor, context, request.where) : AnyTensor(), context};
        if (shared.any) return shared_or_copied(shared, tensor.read_only, request);
        refuse_copy(request,
                    "the tensor lies in the CPU's memory, and is copied to " + context->device().info().id);
    }
    return {upload(context->device(), as_array(tensor), request.where), context};
}

Tensor received(py::handle value, const Request& request) {
    if (const Buffer* buffer = as_buffer(value))
        return shared_or_copied(buffer->tensor, !buffer->writable, request);
    if (const Tensor* tensor = as_tensor(value)) return shared_or_copied(*tensor, false, request);
    const ForeignTensor tensor = read_foreign(value, {}, request.where);
    if (tensor.kind == ForeignMemoryKind::host) return from_host(tensor, request);
    return shared_or_copied(adopt_where_it_is(tensor, request.where), tensor.read_only, request);
}

}  // namespace

Tensor tensor_from_dlpack(py::handle x, py::handle device, py::handle copy) {
    const Where where{"Tensor.from_dlpack", "x"};
    return received(x, {device, copying_of(copy, where), true, false, where});
}

Buffer buffer_from_dlpack(py::handle x, bool writable, py::handle device, py::handle copy) {
    const Where where{"Buffer.from_dlpack", "x"};
    return {received(x, {device, copying_of(copy, where), writable, true, where}), writable};
}

}  // namespace kf::python
