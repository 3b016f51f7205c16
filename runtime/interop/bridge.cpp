// CUDA memory for Vulkan's kernels: one GPU by both APIs.
#include "interop/bridge.h"

#include <unistd.h>

#include <kf/error.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "core/overlap.h"
#include "core/tensor_state.h"
#include "core/usable.h"
#include "vulkan/driver.h"

namespace kf::interop {
namespace {

constexpr std::uint64_t place_step = 256;  ///< bytes: where in it an array lies is as in CUDA's memory
constexpr std::uint64_t least_piece = 64ULL << 10;  ///< bytes

AnyTensor tensor_over(const Device& device, std::shared_ptr<driver::Allocation> memory, std::uint64_t offset,
                      const CudaArray& array) {
    detail::TensorState state;
    state.device = device.state();
    state.allocation = std::move(memory);
    state.offset = offset;
    state.element = array.element;
    state.shape = array.shape;
    state.strides = array.strides;
    state.size = detail::checked_product(array.shape, "tensor");
    return AnyTensor(std::make_shared<const detail::TensorState>(std::move(state)));
}

}  // namespace

Bridge::Piece::Piece(const std::shared_ptr<const cuda::Peer>& peer, driver::Device& device,
                     std::uint64_t bytes)
    : size(bytes),
      shared(vulkan::make_shared_memory(device, bytes)),
      imported(peer, shared.file, bytes),
      last_use(peer) {}

std::shared_ptr<Bridge> Bridge::open(int ordinal, const Device& usual) {
    auto peer = std::make_shared<const cuda::Peer>(ordinal);
    const std::array<std::uint8_t, 16> uuid = peer->uuid();
    if (usual && usual.state()->driver().info().uuid == uuid && vulkan::can_share(usual.state()->driver()))
        return std::make_shared<Bridge>(std::move(peer), usual);
    std::string why_not;
    for (const driver::Candidate& candidate : vulkan::find_vulkan(why_not)) {
        if (candidate.info.uuid == uuid)
            return std::make_shared<Bridge>(std::move(peer), detail::make_device(candidate.open()));
    }
    throw DeviceError(ErrorCode::no_device, "vulkan: no device is CUDA's number " + std::to_string(ordinal) +
                                                ", " + peer->context().physical().info.name +
                                                (why_not.empty() ? "" : ": " + why_not));
}

Bridge::Bridge(std::shared_ptr<const cuda::Peer> peer, Device device)
    : peer_(std::move(peer)),
      device_(std::move(device)),
      to_vulkan_(device_.state()->driver()),
      to_cuda_(device_.state()->driver()),
      from_cuda_(peer_, to_vulkan_.file()),
      from_vulkan_(peer_, to_cuda_.file()),
      mark_(peer_) {}

Bridge::~Bridge() {
    try {
        device_.wait();
        const cuda::Current current(peer_->context());
        (void)peer_->context().cu.cuCtxSynchronize();
    } catch (...) {  // a destructor has nobody to tell
    }
}

std::unique_ptr<Bridge::Piece> Bridge::make(std::uint64_t size) {
    driver::Device& driver = device_.state()->driver();
    try {
        return std::make_unique<Piece>(peer_, driver, size);
    } catch (const DeviceError& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
    }
    std::map<std::uint64_t, std::vector<std::unique_ptr<Piece>>> unused;
    {
        const std::lock_guard lock(mutex_);
        unused = std::exchange(pieces_, {});
    }
    for (const auto& [bytes, list] : unused) {
        for (const std::unique_ptr<Piece>& piece : list) piece->last_use.wait();
    }
    driver.wait();
    unused.clear();
    return std::make_unique<Piece>(peer_, driver, size);
}

std::unique_ptr<Bridge::Piece> Bridge::take(std::uint64_t size) {
    size = std::max(least_piece, std::bit_ceil(size));
    {
        const std::lock_guard lock(mutex_);
        std::vector<std::unique_ptr<Piece>>& list = pieces_[size];
        if (!list.empty()) {
            std::unique_ptr<Piece> piece = std::move(list.back());
            list.pop_back();
            return piece;
        }
    }
    return make(size);
}

void Bridge::give(std::unique_ptr<Piece> piece) {
    const std::lock_guard lock(mutex_);
    pieces_[piece->size].push_back(std::move(piece));
}

void Bridge::enter(cuda::CUstream stream) {
    const std::lock_guard lock(mutex_);
    // Streams of others, of which each is in its own order, meet on ours, so that values only rise.
    mark_.record(stream);
    mark_.hold(peer_->own());
    from_cuda_.signal(++entered_, peer_->own());
    to_vulkan_.wait(entered_);
}

void Bridge::leave(cuda::CUstream stream) {
    const std::lock_guard lock(mutex_);
    to_cuda_.signal(++left_);
    from_vulkan_.wait(left_, stream);
}

Crossing::Crossing(std::shared_ptr<Bridge> bridge, void* stream)
    : bridge_(std::move(bridge)), stream_(static_cast<cuda::CUstream>(stream)) {
    if (bridge_->peer_->is_capturing(stream_)) {
        throw DeviceError(ErrorCode::stream_captured,
                          "vulkan: the stream is captured into a CUDA graph, which Vulkan's kernels can't be "
                          "part of; generate the functions with CUDA kernels");
    }
}

Crossing::~Crossing() {
    if (is_finished_) return;
    try {
        end(false);
    } catch (...) {  // a destructor has nobody to tell; the memory stays taken
        for (Copied& one : copied_) [[maybe_unused]] auto* const kept = one.piece.release();
    }
}

AnyTensor Crossing::lend(const CudaArray& array) {
    const Device& device = bridge_->device_;
    if (detail::is_empty(array.shape)) return AnyTensor::empty(device, array.element, array.shape);
    driver::Device& driver = device.state()->driver();
    const auto element = static_cast<std::int64_t>(array.element.size());
    const detail::Reach reach = *detail::reach_of(array.shape, array.strides, element, element);
    const std::uint64_t begin = array.first - reach.before;
    if (const auto block = cuda::find_exportable(begin, reach.size)) {
        const auto import = [&](int file) {
            auto memory = vulkan::import_memory(driver, file, block->size);
            if (memory == nullptr) close(file);
            return memory;
        };
        if (const auto whole = block->seen_by(*bridge_->peer_, bridge_.get(), import)) {
            if (has_begun_) bridge_->enter(stream_);
            return tensor_over(device, vulkan::part_of(driver, whole, begin - block->address, reach.size),
                               reach.before, array);
        }
    }
    const bool has_gaps =
        reach.size != static_cast<std::uint64_t>(detail::checked_product(array.shape, "tensor") * element);
    if (array.is_written && has_gaps) {
        throw ArgumentError(
            ErrorCode::layout_mismatch,
            "it is written, and its elements lie apart: what Vulkan's kernels write to CUDA's "
            "memory must be contiguous, or be of an allocator whose memory is shared");
    }
    Copied copied;
    copied.target = begin;
    copied.offset = begin % place_step;
    copied.size = reach.size;
    copied.is_written = array.is_written;
    copied.piece = bridge_->take(copied.offset + copied.size);
    copied.piece->last_use.hold(stream_);
    const std::uint64_t place = copied.piece->imported.address() + copied.offset;
    if (array.is_read) bridge_->peer_->copy(place, begin, reach.size, stream_);
    if (has_begun_) bridge_->enter(stream_);
    auto memory = vulkan::part_of(driver, copied.piece->shared.memory, copied.offset, copied.size);
    copied_.push_back(std::move(copied));
    return tensor_over(device, std::move(memory), reach.before, array);
}

void Crossing::begin() {
    bridge_->enter(stream_);
    has_begun_ = true;
}

void Crossing::finish() {
    is_finished_ = true;
    end(true);
}

void Crossing::end(bool copies_back) {
    if (has_begun_) bridge_->leave(stream_);
    for (const Copied& one : copied_) {
        if (copies_back && one.is_written) {
            bridge_->peer_->copy(one.target, one.piece->imported.address() + one.offset, one.size, stream_);
        }
    }
    for (Copied& one : copied_) {
        one.piece->last_use.record(stream_);
        bridge_->give(std::move(one.piece));
    }
    copied_.clear();
}

void* allocate_shared(std::int64_t size, int ordinal) noexcept {
    return cuda::allocate_exportable(size, ordinal);
}

void free_shared(void* address) noexcept { cuda::free_exportable(address); }

}  // namespace kf::interop
