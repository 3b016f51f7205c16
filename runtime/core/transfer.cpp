// Making tensors and moving their elements between host and device.
#include <kf/any_tensor.h>
#include <kf/device.h>
#include <kf/error.h>

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/kept_call.h"
#include "core/overlap.h"
#include "core/recording.h"
#include "core/tensor_state.h"

namespace kf {
namespace {

using detail::state_of;
using detail::TensorState;

AnyTensor make(const Device& device, ElementType element, const Dims& shape,
               detail::Placement place = detail::Placement::device) {
    if (!device) {
        throw ArgumentError(ErrorCode::missing_argument, "tensor: the device is null");
    }
    for (std::size_t i = 0; i < element.rank; ++i) {
        if (element.extents[i] < 1) {
            throw ArgumentError(ErrorCode::value_range,
                                "tensor: an element without scalars: " + to_string(element));
        }
    }
    device.state()->driver().admit();
    return detail::make_tensor(device.state(), *device.state(), element, shape, place);
}

void fill_memory(const AnyTensor& tensor, std::uint32_t word) {
    const TensorState& state = *tensor.state();
    if (state.size > 0) {
        state.device->driver().fill(state.allocation, 0, state.allocation->size, word);
    }
}

/// Returns the 32-bit word that an element repeated in memory is made of, or nothing where it isn't.
std::optional<std::uint32_t> repeated_word(std::span<const std::byte> element) {
    std::array<std::byte, sizeof(std::uint32_t)> bytes{};
    if (element.size() < bytes.size() && bytes.size() % element.size() != 0) return std::nullopt;
    if (element.size() > bytes.size() && element.size() % bytes.size() != 0) return std::nullopt;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = element[i % element.size()];
    for (std::size_t i = 0; i < element.size(); ++i) {
        if (element[i] != bytes[i % bytes.size()]) return std::nullopt;
    }
    return std::bit_cast<std::uint32_t>(bytes);
}

/// The bytes of the allocation that a view's elements lie in.
struct ByteRange {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
    std::uint64_t first = 0;  ///< where in it the first element is
};

ByteRange byte_range_of(const TensorState& state) {
    const auto element = static_cast<std::int64_t>(state.element.size());
    const detail::Reach reach = *detail::reach_of(state.shape, state.strides, element, element);
    return {state.offset - reach.before, reach.size, reach.before};
}

/// Calls `visit(byte offset from the first element)` for each element in row-major order.
template <class Visit>
void for_each_element(const TensorState& state, Visit visit) {
    Dims index(state.shape.size(), 0);
    std::int64_t at = 0;
    const auto element = static_cast<std::int64_t>(state.element.size());
    for (std::int64_t n = 0; n < state.size; ++n) {
        visit(at * element);
        for (std::size_t d = state.shape.size(); d-- > 0;) {
            at += state.strides[d];
            if (++index[d] < state.shape[d]) {
                break;
            }
            at -= state.strides[d] * state.shape[d];
            index[d] = 0;
        }
    }
}

void check_size(const TensorState& state, std::size_t bytes, const char* what) {
    const std::size_t element = state.element.size();
    if (bytes != static_cast<std::size_t>(state.size) * element) {
        const std::size_t rest = bytes % element;
        throw ArgumentError(ErrorCode::shape_mismatch,
                            std::string(what) + ": a tensor of shape " + to_string(state.shape) + " has " +
                                std::to_string(state.size) + " elements of " + std::to_string(element) +
                                " bytes, the host side has " + std::to_string(bytes / element) +
                                (rest == 0 ? "" : " and " + std::to_string(rest) + " bytes"));
    }
}

}  // namespace

namespace detail {

AnyTensor make_tensor(std::shared_ptr<DeviceState> owner, const DeviceState& memory, ElementType element,
                      const Dims& shape, Placement place) {
    if (shape.size() > max_rank) {
        throw ArgumentError(ErrorCode::rank_mismatch,
                            "a tensor has at most " + std::to_string(max_rank) + " dimensions");
    }
    Dims bytes = shape;
    bytes.push_back(static_cast<std::int64_t>(element.size()));
    const std::int64_t size = checked_product(bytes, "tensor");
    TensorState state;
    state.device = std::move(owner);
    if (place == Placement::mapped)
        state.allocation = memory.allocate_mapped(static_cast<std::uint64_t>(size));
    if (!state.allocation) state.allocation = memory.allocate(static_cast<std::uint64_t>(size));
    state.element = element;
    state.shape = shape;
    state.strides = row_major(shape);
    state.size = checked_product(shape, "tensor");
    return AnyTensor(std::make_shared<const TensorState>(std::move(state)));
}

AnyTensor make_mapped(const Device& device, ElementType element, const Dims& shape) {
    return make(device, element, shape, Placement::mapped);
}

AnyTensor make_mapped(const Device& device, ElementType element, const Dims& shape,
                      std::span<const std::byte> bytes) {
    AnyTensor tensor = make_mapped(device, element, shape);
    const TensorState& state = *tensor.state();
    if (state.allocation == nullptr || state.allocation->host == nullptr) {
        write_unrecorded(tensor, bytes);
        return tensor;
    }
    // No command uses it yet.
    check_size(state, bytes.size(), "write");
    std::memcpy(state.allocation->host, bytes.data(), bytes.size());
    return tensor;
}

}  // namespace detail

AnyTensor AnyTensor::empty(const Device& device, ElementType element, const Dims& shape) {
    return make(device, element, shape);
}

AnyTensor AnyTensor::zeros(const Device& device, ElementType element, const Dims& shape) {
    AnyTensor tensor = make(device, element, shape);
    fill_memory(tensor, 0);
    return tensor;
}

AnyTensor AnyTensor::ones(const Device& device, ElementType element, const Dims& shape) {
    if (element.struct_size != 0) {
        throw ArgumentError(ErrorCode::type_mismatch, "ones: a struct has no value that is 1");
    }
    AnyTensor tensor = make(device, element, shape);
    const auto scalars = static_cast<std::size_t>(tensor.size() * element.scalars());
    switch (element.scalar) {
        case ScalarType::boolean:
        case ScalarType::int8:
        case ScalarType::uint8: fill_memory(tensor, 0x01010101U); break;
        case ScalarType::int16:
        case ScalarType::uint16: fill_memory(tensor, 0x00010001U); break;
        case ScalarType::float16: fill_memory(tensor, 0x3c003c00U); break;
        case ScalarType::int32:
        case ScalarType::uint32: fill_memory(tensor, 1U); break;
        case ScalarType::float32: fill_memory(tensor, 0x3f800000U); break;
        case ScalarType::int64:
        case ScalarType::uint64: {
            const std::vector<std::uint64_t> host(scalars, 1);
            detail::write_unrecorded(tensor, std::as_bytes(std::span(host)));
            break;
        }
        case ScalarType::float64: {
            const std::vector<double> host(scalars, 1.0);
            detail::write_unrecorded(tensor, std::as_bytes(std::span(host)));
            break;
        }
    }
    return tensor;
}

AnyTensor AnyTensor::from_host(const Device& device, ElementType element, const Dims& shape,
                               std::span<const std::byte> bytes) {
    AnyTensor tensor = make(device, element, shape);
    detail::write_unrecorded(tensor, bytes);
    return tensor;
}

void AnyTensor::read(std::span<std::byte> bytes) const {
    const TensorState& state = state_of(*this);
    check_size(state, bytes.size(), "read");
    if (state.size == 0) {
        return;
    }
    detail::check_read("read", *state.allocation);
    driver::Device& driver = state.device->driver();
    if (detail::is_dense(state.shape, state.strides)) {
        driver.read_back(state.allocation, state.offset, bytes);
        state.device->take_reports();
        return;
    }
    const ByteRange range = byte_range_of(state);
    std::vector<std::byte> content(range.size);
    driver.read_back(state.allocation, range.begin, content);
    state.device->take_reports();
    const std::size_t element = state.element.size();
    std::byte* target = bytes.data();
    const std::byte* first = content.data() + range.first;
    for_each_element(state, [&](std::int64_t offset) {
        std::memcpy(target, first + offset, element);
        target += element;
    });
}

void AnyTensor::write(std::span<const std::byte> bytes) const {
    if (!bytes.empty()) detail::check_unrecorded("write");
    detail::write_unrecorded(*this, bytes);
}

void detail::write_unrecorded(const AnyTensor& tensor, std::span<const std::byte> bytes) {
    const TensorState& state = state_of(tensor);
    check_size(state, bytes.size(), "write");
    if (state.size == 0) {
        return;
    }
    state.allocation->note_written();
    driver::Device& driver = state.device->driver();
    driver.admit(bytes.size());
    if (detail::is_dense(state.shape, state.strides)) {
        driver.upload(state.allocation, state.offset, bytes);
        return;
    }
    if (detail::may_repeat(state.shape, state.strides)) {
        throw ArgumentError(ErrorCode::layout_mismatch,
                            "write: elements of the view share memory (it is broadcast); shape " +
                                to_string(state.shape) + ", strides " + to_string(state.strides));
    }
    const ByteRange range = byte_range_of(state);
    std::vector<std::byte> content(range.size);
    driver.read_back(state.allocation, range.begin, content);
    const std::size_t element = state.element.size();
    const std::byte* source = bytes.data();
    std::byte* first = content.data() + range.first;
    for_each_element(state, [&](std::int64_t offset) {
        std::memcpy(first + offset, source, element);
        source += element;
    });
    driver.upload(state.allocation, range.begin, content);
}

void AnyTensor::fill(std::span<const std::byte> element) const {
    const TensorState& state = state_of(*this);
    const std::size_t size = state.element.size();
    if (element.size() != size) {
        throw ArgumentError(ErrorCode::shape_mismatch, "fill: an element has " + std::to_string(size) +
                                                           " bytes, not " + std::to_string(element.size()));
    }
    if (state.size == 0) {
        return;
    }
    const std::uint64_t bytes = static_cast<std::uint64_t>(state.size) * size;
    const std::optional<std::uint32_t> word = repeated_word(element);
    const bool is_dense = detail::is_dense(state.shape, state.strides);
    driver::Device& driver = state.device->driver();
    detail::Recording* const recording = detail::Recording::current();
    if (word && is_dense && state.offset % 4 == 0 && bytes % 4 == 0) {
        if (recording != nullptr) {
            recording->kept_on(state.device).between().fill(state.allocation, state.offset, bytes, *word);
            return;
        }
        state.allocation->note_written();
        driver.admit();
        driver.fill(state.allocation, state.offset, bytes, *word);
        return;
    }
    if (!is_dense) detail::check_unrecorded("fill of a view with gaps");
    std::vector<std::byte> content;
    content.reserve(bytes);
    for (std::int64_t i = 0; i < state.size; ++i)
        content.insert(content.end(), element.begin(), element.end());
    if (recording == nullptr) {
        write(content);
        return;
    }
    detail::CommandLog& kept = recording->kept_on(state.device).between();
    const std::shared_ptr<driver::Allocation> source = state.device->allocate(bytes);
    driver.admit(bytes);
    driver.upload(source, 0, content);
    kept.copy(state.allocation, state.offset, source, 0, bytes);
}

}  // namespace kf
