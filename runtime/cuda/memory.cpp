// Device memory: one pool.
#include "cuda/memory.h"

#include <kf/error.h>

#include <array>
#include <string>

namespace kf::cuda {
namespace {

[[noreturn]] void fail_captured(const std::string& what) {
    throw DeviceError(
        ErrorCode::stream_captured,
        "cuda: the stream is being captured into a graph, and no memory can be allocated: " + what,
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CudaAllocation* ours(const driver::Use& use) { return static_cast<CudaAllocation*>(use.allocation); }

}  // namespace

CudaAllocation::CudaAllocation(std::shared_ptr<Memory> memory, std::shared_ptr<Stream> maker)
    : memory_(std::move(memory)), hazards_(std::move(maker)) {
    home = context();
}

CudaAllocation::~CudaAllocation() {
    if (!context()->process.is_here()) {
        return;
    }
    if (owner_.use_count() != 0) {  // it may own without pointing anywhere
        memory_->leave(*this);
    } else if (host != nullptr) {
        memory_->give_mapped(*this);
    } else if (address != 0 && !lent_) {
        memory_->give(*this);
    }
}

bool CudaAllocation::is_idle() const {
    if (done_.load(std::memory_order_acquire) == issued()) {
        return true;
    }
    return !on_others_.load(std::memory_order_acquire) &&
           last_on_own_.load(std::memory_order_acquire) <= memory_->own_->done();
}

const Context* CudaAllocation::context() const { return memory_->context_.get(); }

Memory::Memory(std::shared_ptr<Context> context, std::shared_ptr<Stream> own)
    : context_(std::move(context)), own_(std::move(own)), mapped_(context_) {
    const Functions& cu = context_->cu;
    CUmemPoolProps properties;
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = context_->physical().handle;
    context_->check(cu.cuMemPoolCreate(&pool_, &properties), "cuMemPoolCreate");
    std::uint64_t keep_all = ~std::uint64_t{0};
    const CUresult result = cu.cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all);
    if (result != CUDA_SUCCESS) {
        (void)cu.cuMemPoolDestroy(pool_);
        context_->fail(result, "cuMemPoolSetAttribute failed");
    }
}

Memory::~Memory() {
    try {
        const Current current(*context_);
        give_left();
        (void)give_free_blocks();
        if (!leaving_.empty()) {
            (void)context_->cu.cuStreamSynchronize(own_->handle());
            release_owners();
        }
        (void)context_->cu.cuMemPoolDestroy(pool_);
    } catch (...) {  // a lost device, or the end of the process: the memory went with it
    }
}

void Memory::close() {
    const std::lock_guard lock(kept_mutex_);
    scratch_ = {};
    zeros_ = {};
}

CUresult Memory::allocate(CUdeviceptr& address, std::uint64_t size, const Stream& stream) {
    return context_->cu.cuMemAllocFromPoolAsync(&address, size, pool_, stream.handle());
}

std::shared_ptr<CudaAllocation> Memory::take(std::uint64_t size, const std::shared_ptr<Stream>& stream) {
    auto allocation = std::make_shared<CudaAllocation>(shared_from_this(), stream);
    allocation->size = size;
    if (size == 0) {
        return allocation;
    }
    if (stream->is_capturing()) {
        fail_captured(
            std::to_string(size) +
            " bytes are wanted; make tensors before the capture begins and give calls their outputs "
            "(out=)");
    }
    if (stream == own_) {
        allocation->address = free_.take(size);
        if (allocation->address != 0) {
            return allocation;
        }
    }
    const BesideCaptures beside(*context_);
    give_left();
    release_owners();
    CUdeviceptr address = 0;
    CUresult result = allocate(address, size, *stream);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        give_unused();
        result = allocate(address, size, *stream);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) {
            fail_out_of_memory(size);
        }
    }
    context_->check(result, "cuMemAllocFromPoolAsync");
    allocation->address = address;
    if (!stream->owned()) {
        const std::lock_guard lock(order_mutex_);
        stream->mark();
    }
    return allocation;
}

void Memory::give_unused() {
    {
        const std::lock_guard lock(kept_mutex_);
        if (scratch_.memory.use_count() == 1) {
            scratch_.memory = nullptr;
        }
    }
    (void)give_free_blocks();
    // Returned memory is free once the stream has come there; until then the pool holds it in other sizes.
    context_->check(context_->cu.cuStreamSynchronize(own_->handle()), "cuStreamSynchronize");
    context_->check(context_->cu.cuMemPoolTrimTo(pool_, 0), "cuMemPoolTrimTo");
    release_owners();
}

std::shared_ptr<CudaAllocation> Memory::take_mapped(std::uint64_t size,
                                                    const std::shared_ptr<Stream>& stream) {
    if (size == 0 || size > driver::most_mapped || stream->is_capturing()) {
        return nullptr;
    }
    auto allocation = std::make_shared<CudaAllocation>(shared_from_this(), stream);
    const MappedPool::Piece piece = mapped_.take(size);
    if (piece.host == nullptr) {
        return nullptr;
    }
    allocation->host = piece.host;
    allocation->size_class_ = piece.size_class;
    allocation->address = reinterpret_cast<CUdeviceptr>(piece.host);
    allocation->size = size;
    return allocation;
}

void Memory::count(CudaAllocation& allocation, Stream& stream) {
    if (stream.owned()) {
        // Another thread may have recorded a later number meanwhile.
        const std::uint64_t number = stream.count();
        std::uint64_t last = allocation.last_on_own_.load(std::memory_order_relaxed);
        while (last < number && !allocation.last_on_own_.compare_exchange_weak(
                                    last, number, std::memory_order_release, std::memory_order_relaxed)) {
        }
    } else {
        allocation.on_others_.store(true, std::memory_order_release);
    }
    allocation.issued_.fetch_add(1, std::memory_order_release);
}

void Memory::give_mapped(CudaAllocation& allocation) {
    const MappedPool::Piece piece{allocation.host, allocation.size_class_};
    try {
        if (allocation.is_idle() && !allocation.is_used_by_others_.load(std::memory_order_relaxed)) {
            mapped_.give(piece);
            return;
        }
        const Current current(*context_);
        const BesideCaptures beside(*context_);
        if (streams_.load(std::memory_order_relaxed)) {
            const std::lock_guard lock(order_mutex_);
            follow_users(allocation);
        }
        mapped_.give_after(piece, *own_);
    } catch (...) {  // a lost device, or the end of the process: the piece is lost too
    }
}

std::shared_ptr<CudaAllocation> Memory::wrap(driver::ForeignMemory memory,
                                             const std::shared_ptr<Stream>& stream) {
    if (memory.handle == 0 && memory.size != 0) {
        throw ArgumentError(ErrorCode::missing_argument, "cuda: memory to wrap has no address");
    }
    if (memory.handle != 0) {
        int device = 0;
        const CUresult result =
            context_->cu.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory.handle);
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE) {
            context_->fail(result, "cuPointerGetAttribute failed");
        }
        if (result != CUDA_SUCCESS || device != context_->physical().handle) {
            throw ArgumentError(ErrorCode::device_mismatch, "cuda: the memory to wrap is not of this device");
        }
    }
    release_owners();
    auto allocation = std::make_shared<CudaAllocation>(shared_from_this(), stream);
    allocation->address = memory.handle + memory.offset;
    allocation->size = memory.size;
    allocation->lent_ = true;
    allocation->is_wrapped = true;
    allocation->is_in_order = memory.is_in_order;
    allocation->owner_ = std::move(memory.owner);
    if (!memory.is_in_order && !stream->owned() && !stream->is_capturing()) {
        const std::lock_guard lock(order_mutex_);
        stream->mark();
    }
    return allocation;
}

std::shared_ptr<CudaAllocation> Memory::stand_in(std::shared_ptr<void> owner,
                                                 const std::shared_ptr<Stream>& stream) {
    auto allocation = std::make_shared<CudaAllocation>(shared_from_this(), stream);
    allocation->address = reinterpret_cast<std::uint64_t>(owner.get());
    allocation->size = 1;
    allocation->lent_ = true;
    allocation->owner_ = std::move(owner);
    return allocation;
}

void Memory::lend(driver::Allocation& memory, Stream& stream) {
    auto& allocation = static_cast<CudaAllocation&>(memory);
    expect_streams();
    allocation.is_used_by_others_.store(true, std::memory_order_relaxed);
    if (stream.is_capturing()) {
        return;  // in what order the graph runs is up to who launches it
    }
    const std::lock_guard lock(order_mutex_);
    allocation.hazards_.before(&stream, true, [&stream](Stream& other) { stream.follow(other); });
}

void Memory::follow_users(const CudaAllocation& allocation) const {
    allocation.hazards_.before(own_.get(), true, [this](Stream& other) { own_->follow(other); });
    if (allocation.is_used_by_others_.load(std::memory_order_relaxed)) {
        own_->follow_default();
    }
}

void Memory::leave(CudaAllocation& allocation) {
    try {
        const Current current(*context_);
        const BesideCaptures beside(*context_);
        Leaving leaving{nullptr, allocation.owner_};
        context_->check(context_->cu.cuEventCreate(&leaving.event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
        {
            const std::lock_guard lock(order_mutex_);
            if (streams_.load(std::memory_order_relaxed)) {
                follow_users(allocation);
            }
            (void)context_->cu.cuEventRecord(leaving.event, own_->handle());
        }
        {
            const std::lock_guard lock(leaving_mutex_);
            leaving_.push_back(std::move(leaving));
        }
        allocation.owner_ = nullptr;
        release_owners();
    } catch (...) {  // a lost device, or the end of the process: no command needs the memory
    }
}

void Memory::release_owners() {
    std::vector<Leaving> done;  // let go without the lock
    const BesideCaptures beside(*context_);
    const std::lock_guard lock(leaving_mutex_);
    std::erase_if(leaving_, [&](Leaving& one) {
        if (context_->cu.cuEventQuery(one.event) == CUDA_ERROR_NOT_READY) {
            return false;
        }
        (void)context_->cu.cuEventDestroy_v2(one.event);
        done.push_back(std::move(one));
        return true;
    });
}

void Memory::fail_out_of_memory(std::uint64_t size) const {
    std::size_t free = 0;
    std::size_t total = 0;
    (void)context_->cu.cuMemGetInfo_v2(&free, &total);
    const Usage now = usage();
    context_->fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "out of memory on " + context_->physical().info.name + ": " + std::to_string(size) +
                       " bytes wanted, " + std::to_string(now.used) + " in use, " +
                       std::to_string(now.reserved) + " reserved; " + std::to_string(free) +
                       " of the device's " + std::to_string(total) + " are free");
}

std::shared_ptr<CudaAllocation> Memory::find_kept(Kept& kept, std::uint64_t size) {
    const std::lock_guard lock(kept_mutex_);
    if (kept.memory == nullptr || kept.memory.use_count() > 1) {
        return nullptr;  // there is none, or another thread's call is using it
    }
    if (kept.memory->size < size) {
        kept.memory = nullptr;
    }
    return kept.memory;
}

std::shared_ptr<CudaAllocation> Memory::take_scratch(std::uint64_t size,
                                                     const std::shared_ptr<Stream>& stream) {
    if (stream->is_capturing()) {
        return take_captured(scratch_, size, *stream);
    }
    if (std::shared_ptr<CudaAllocation> found = find_kept(scratch_, size)) {
        return found;
    }
    std::shared_ptr<CudaAllocation> made = take(size, stream);
    const std::lock_guard lock(kept_mutex_);
    if (scratch_.memory == nullptr) {
        scratch_.memory = made;
    }
    return made;
}

std::shared_ptr<CudaAllocation> Memory::take_zeros(std::uint64_t size,
                                                   const std::shared_ptr<Stream>& stream) {
    if (size > driver::most_zeros) {
        return nullptr;
    }
    if (stream->is_capturing()) {
        return take_captured(zeros_, size, *stream);
    }
    if (std::shared_ptr<CudaAllocation> found = find_kept(zeros_, size)) {
        return found;
    }
    std::shared_ptr<CudaAllocation> made = take(driver::most_zeros, stream);
    const std::array uses{driver::Use{made, true}};
    order(uses, stream, [&] {
        context_->check(
            context_->cu.cuMemsetD32Async(made->address, 0, driver::most_zeros / 4, stream->handle()),
            "cuMemsetD32Async");
    });
    const std::lock_guard lock(kept_mutex_);
    if (zeros_.memory == nullptr) {
        zeros_.memory = made;
    }
    return made;
}

std::shared_ptr<CudaAllocation> Memory::take_captured(Kept& kept, std::uint64_t size, const Stream& stream) {
    const Functions& cu = context_->cu;
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    std::uint64_t capture = 0;
    CUgraph graph = nullptr;
    context_->check(
        cu.cuStreamGetCaptureInfo_v2(stream.handle(), &status, &capture, &graph, nullptr, nullptr),
        "cuStreamGetCaptureInfo");
    const std::lock_guard lock(kept_mutex_);
    // Calls captured on one stream run one after the other and can share.
    if (kept.capture == capture && kept.stream == &stream && kept.captured->size >= size &&
        kept.captured.use_count() == 1) {
        return kept.captured;
    }
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE || kept.memory == nullptr || kept.memory->size < size ||
        kept.memory.use_count() > 1) {
        fail_captured("the call works in " + std::to_string(size) +
                      " bytes; make it once in the same way before the capture begins, which keeps some");
    }
    CUuserObject object = nullptr;
    auto holder = std::make_unique<LeftByGraph>(LeftByGraph{left_, kept.memory->address});
    const auto leave = [](void* data) {
        const std::unique_ptr<LeftByGraph> graphs(static_cast<LeftByGraph*>(data));
        const std::lock_guard left_lock(graphs->left->mutex);
        graphs->left->addresses.push_back(graphs->address);
    };
    context_->check(cu.cuUserObjectCreate(&object, holder.get(), leave, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                    "cuUserObjectCreate");
    [[maybe_unused]] const LeftByGraph* objects = holder.release();
    // The object returns the memory from here on, whatever happens.
    kept.memory->lent_ = true;
    kept = {nullptr, capture, &stream, std::move(kept.memory)};
    const CUresult result = cu.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result != CUDA_SUCCESS) {
        kept = {};
        (void)cu.cuUserObjectRelease(object, 1);
        context_->fail(result, "cuGraphRetainUserObject failed");
    }
    return kept.captured;
}

void Memory::give_left() {
    std::vector<CUdeviceptr> addresses;
    {
        const std::lock_guard lock(left_->mutex);
        addresses.swap(left_->addresses);
    }
    for (const CUdeviceptr address : addresses) {
        (void)context_->cu.cuMemFreeAsync(address, own_->handle());
    }
}

bool Memory::give_free_blocks() const {
    FreeBlocks::Block block = free_.release();
    const bool has_any = block.address != 0;
    const BesideCaptures beside(*context_);
    for (; block.address != 0; block = free_.release()) {
        (void)context_->cu.cuMemFreeAsync(block.address, own_->handle());
    }
    return has_any;
}

void Memory::give(CudaAllocation& allocation) {
    try {
        FreeBlocks::Block block{allocation.address, allocation.size};
        const bool on_streams = streams_.load(std::memory_order_relaxed);
        if (!on_streams && block.size <= FreeBlocks::largest) {
            block = free_.keep(block);
            if (block.address == 0) {
                return;
            }
        }
        const Current current(*context_);
        const BesideCaptures beside(*context_);
        if (on_streams) {
            const std::lock_guard lock(order_mutex_);
            follow_users(allocation);
        }
        (void)context_->cu.cuMemFreeAsync(block.address, own_->handle());
    } catch (...) {  // a lost device, or the end of the process: the memory went with it
    }
}

void Memory::before(std::span<const driver::Use> uses, Stream& stream) const {
    const Stream* followed = nullptr;
    for (const driver::Use& use : uses) {
        if (!is_ordered_here(use)) {
            continue;
        }
        ours(use)->hazards_.before(&stream, use.writes, [&](Stream& other) {
            // Marks move only with the lock held, so once is enough; most often it is one stream.
            if (&other != followed) {
                stream.follow(other);
                followed = &other;
            }
        });
    }
}

void Memory::after(std::span<const driver::Use> uses, const std::shared_ptr<Stream>& stream) const {
    for (const driver::Use& use : uses) {
        if (is_ordered_here(use)) {
            ours(use)->hazards_.after(stream, use.writes);
        }
    }
    stream->mark();
}

Memory::Usage Memory::usage() const {
    const Functions& cu = context_->cu;
    if (give_free_blocks()) {
        const BesideCaptures beside(*context_);
        (void)cu.cuStreamSynchronize(own_->handle());
    }
    Usage usage;
    context_->check(cu.cuMemPoolGetAttribute(pool_, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &usage.reserved),
                    "cuMemPoolGetAttribute");
    context_->check(cu.cuMemPoolGetAttribute(pool_, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &usage.used),
                    "cuMemPoolGetAttribute");
    return usage;
}

}  // namespace kf::cuda
