// NumPy arrays of a call that kernels use where they lie.
#include "python/host_imports.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include "core/device_state.h"
#include "core/host_array.h"
#include "core/roles.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/host_argument.h"
#include "python/tensor.h"
#include "python/torch_outputs.h"
#include "python/with_gradients.h"

namespace kf::python {
namespace {

using manifest::Argument;

/// The bytes from an array's lowest element to the end of its highest one.
struct ByteRange {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

ByteRange bytes_between_ends(const py::array& array) {
    const auto first = reinterpret_cast<std::uintptr_t>(array.data());
    ByteRange bytes{first, first + static_cast<std::uintptr_t>(array.itemsize())};
    for (py::ssize_t d = 0; d < array.ndim(); ++d) {
        if (array.shape(d) == 0) return {first, first};
        const py::ssize_t far = (array.shape(d) - 1) * array.strides(d);
        (far < 0 ? bytes.begin : bytes.end) += static_cast<std::uintptr_t>(far);
    }
    return bytes;
}

bool is_by_element(const Argument& argument) {
    return manifest::passes_tensor(argument) && !manifest::has_free_access(argument) &&
           !manifest::is_combined(argument);
}

/// Whether both are the same elements, and each call of the function has the same one of both.
bool is_same(CallItems& items, std::size_t a, std::size_t b) {
    const py::array& one = *items.host(a).array;
    const py::array& other = *items.host(b).array;
    return one.data() == other.data() && one.ndim() == other.ndim() &&
           std::equal(one.shape(), one.shape() + one.ndim(), other.shape()) &&
           std::equal(one.strides(), one.strides() + one.ndim(), other.strides()) &&
           items.host(a).scalar == items.host(b).scalar &&
           items.host(a).structure == items.host(b).structure && is_by_element(items.leaf(a)) &&
           is_by_element(items.leaf(b)) && items.leaf(a).map == items.leaf(b).map;
}

bool writes_to(CallItems& items, std::size_t i) { return items.is_written(i) || items.writes_input(i); }

/// Bytes, that kernels ask of where an element lies.
std::int64_t element_alignment(const CallItems& items, std::size_t i, const Context& context) {
    constexpr std::int64_t most = 16;
    const Argument& argument = items.leaf(i);
    if (manifest::passes_buffer(argument)) {
        const driver::Info& info = context.device().state()->driver().info();
        return std::max(most, static_cast<std::int64_t>(info.buffer_alignment));
    }
    if (items.item(i).type != nullptr) return most;
    // Words are filled in what is summed.
    const std::int64_t least = is_by_element(argument) ? 1 : 4;
    const std::int64_t bytes =
        std::accumulate(argument.trailing.begin(), argument.trailing.end(),
                        manifest::scalar_bytes(argument.element.scalar), std::multiplies<>());
    return std::max(least, std::min(most, bytes & -bytes));
}

/// Whether the elements may lie apart: kernels for that are there, and each call looks at its own alone.
bool may_lie_apart(const CallItems& items, std::size_t i) {
    return items.pass() == detail::PassKind::forward && items.call().forward.strided >= 0 &&
           items.item(i).type == nullptr && is_by_element(items.leaf(i)) &&
           !manifest::requires_contiguous(items.leaf(i));
}

bool share_bytes(const py::array& a, const py::array& b) {
    const ByteRange one = bytes_between_ends(a);
    const ByteRange other = bytes_between_ends(b);
    return one.begin < other.end && other.begin < one.end;
}

/// A whole array, without gaps.
AnyTensor import_packed(const py::array& array, ScalarType scalar, const Context& context) {
    if ((array.flags() & py::array::c_style) == 0) return {};
    detail::HostArray given;
    given.first = static_cast<std::byte*>(const_cast<void*>(array.data()));
    given.element = ElementType{scalar, 0};
    for (py::ssize_t d = 0; d < array.ndim(); ++d) {
        given.shape.push_back(array.shape(d));
        given.strides.push_back(array.strides(d));
    }
    given.alignment = 16;
    given.inner = given.shape.size();
    given.owner = shared_owner(py::reinterpret_borrow<py::object>(array));
    const GilRelease release;
    return detail::import_host(context.device(), std::move(given), detail::HostUse::often);
}

}  // namespace

void plan_imports(CallItems& items) {
    for (std::size_t w = 0; w < items.size(); ++w) {
        if (!items.host(w).array || !writes_to(items, w)) continue;
        for (std::size_t i = 0; i < items.size(); ++i) {
            Host& host = items.host(i);
            if (!host.array || writes_to(items, i)) continue;
            const bool meets = share_bytes(*items.host(w).array, *host.array);
            host.is_copied = host.is_copied || (meets && !is_same(items, w, i));
        }
    }
}

void import_array(CallItems& items, std::size_t i, const Context& context) {
    Host& host = items.host(i);
    for (std::size_t k = 0; k < i; ++k) {
        if (!items.host(k).is_imported || !is_same(items, i, k)) continue;
        host.uploaded = items.host(k).uploaded.without_grads();
        host.is_imported = true;
        return;
    }
    const py::array& array = *host.array;
    detail::HostArray given;
    given.first = static_cast<std::byte*>(const_cast<void*>(array.data()));
    given.element = host.structure != nullptr ? host.structure->element : ElementType{host.scalar, 0};
    given.shape = host.shape;
    for (py::ssize_t d = 0; d < array.ndim(); ++d) given.strides.push_back(array.strides(d));
    given.alignment = element_alignment(items, i, context);
    given.inner = may_lie_apart(items, i) ? items.leaf(i).trailing.size() : host.shape.size();
    given.owner = shared_owner(py::reinterpret_borrow<py::object>(array));
    const auto use = is_by_element(items.leaf(i)) ? detail::HostUse::once : detail::HostUse::often;
    const GilRelease release;
    host.uploaded = detail::import_host(context.device(), std::move(given), use);
    host.is_imported = static_cast<bool>(host.uploaded);
}

void wait_for_imports(CallItems& items) {
    const GilRelease release;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Host& host = items.host(i);
        if (host.is_imported) detail::wait_until_idle(host.uploaded);
        if (host.output != nullptr && host.output->imported())
            detail::wait_until_idle(host.output->imported());
        if (host.gradients == nullptr) continue;
        for (const HeldGradient* gradient : {&host.gradients->in, &host.gradients->out}) {
            if (gradient->is_imported) detail::wait_until_idle(gradient->memory);
        }
    }
}

AnyTensor import_gradient(CallItems& items, const py::array& array, ScalarType scalar, bool is_written,
                          const Context& context) {
    if (!items.waits()) return {};
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Host& host = items.host(i);
        if (is_written && host.array && share_bytes(array, *host.array)) return {};
        if (host.gradients == nullptr) continue;
        for (const HeldGradient* other : {&host.gradients->in, &host.gradients->out}) {
            if (other->is_imported && share_bytes(array, *other->torch->array)) return {};
        }
    }
    return import_packed(array, scalar, context);
}

AnyTensor import_result(const py::array& array, ScalarType scalar, const Context& context) {
    return import_packed(array, scalar, context);
}

void fill_array(CallItems& items, std::size_t i) {
    const Host& host = items.host(i);
    if (host.array && !host.is_imported) download_into({host.uploaded, nullptr, host.structure}, *host.array);
}

}  // namespace kf::python
