// A GPU's memory and streams, beside another API of this process that uses the same GPU.
#include "cuda/sharing.h"

#include <unistd.h>

#include <kf/error.h>

#include <algorithm>
#include <map>

#include "cuda/library.h"

namespace kf::cuda {
namespace {

CUmemAllocationProp exportable_on(int ordinal) {
    CUmemAllocationProp properties;
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
    return properties;
}

}  // namespace

Peer::Peer(int ordinal, const std::string& library) {
    auto opened = std::make_shared<const Library>(library);
    const Functions& cu = opened->functions();
    Physical physical = describe(*opened, ordinal);
    const auto attribute = [&](int which) {
        int value = 0;
        (void)cu.cuDeviceGetAttribute(&value, which, physical.handle);
        return value != 0;
    };
    if (!opened->sharing().is_complete ||
        !attribute(CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED) ||
        !attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)) {
        throw DeviceError(ErrorCode::missing_feature, "cuda: " + physical.info.name +
                                                          " shares no memory and timeline semaphores with "
                                                          "other APIs");
    }
    context_ = std::make_shared<Context>(std::move(opened), std::move(physical));
    const Current current(*context_);
    context_->check(cu.cuStreamCreate(&own_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

Peer::~Peer() {
    if (!context_->process.is_here()) return;
    try {
        const Current current(*context_);
        (void)context_->cu.cuStreamDestroy_v2(own_);
    } catch (...) {  // a destructor has nobody to tell
    }
}

std::array<std::uint8_t, 16> Peer::uuid() const {
    CUuuid found;
    context_->check(sharing().cuDeviceGetUuid(&found, context_->physical().handle), "cuDeviceGetUuid");
    std::array<std::uint8_t, 16> bytes{};
    std::ranges::copy(found.bytes, bytes.begin());
    return bytes;
}

bool Peer::is_capturing(CUstream stream) const {
    const Current current(*context_);
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    context_->check(context_->cu.cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing");
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void Peer::copy(CUdeviceptr target, CUdeviceptr source, std::uint64_t bytes, CUstream stream) const {
    const Current current(*context_);
    context_->check(context_->cu.cuMemcpyDtoDAsync_v2(target, source, bytes, stream), "cuMemcpyDtoDAsync");
}

Event::Event(std::shared_ptr<const Peer> peer) : peer_(std::move(peer)) {
    const Current current(peer_->context());
    const BesideCaptures beside(peer_->context());
    peer_->context().check(peer_->context().cu.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING),
                           "cuEventCreate");
}

Event::~Event() {
    if (!peer_->context().process.is_here()) return;
    try {
        const Current current(peer_->context());
        (void)peer_->context().cu.cuEventDestroy_v2(event_);
    } catch (...) {  // a destructor has nobody to tell
    }
}

void Event::record(CUstream stream) const {
    const Current current(peer_->context());
    peer_->context().check(peer_->context().cu.cuEventRecord(event_, stream), "cuEventRecord");
}

void Event::hold(CUstream stream) const {
    const Current current(peer_->context());
    peer_->context().check(peer_->context().cu.cuStreamWaitEvent(stream, event_, 0), "cuStreamWaitEvent");
}

void Event::wait() const {
    const Current current(peer_->context());
    peer_->context().check(peer_->context().cu.cuEventSynchronize(event_), "cuEventSynchronize");
}

ImportedMemory::ImportedMemory(std::shared_ptr<const Peer> peer, int file, std::uint64_t size)
    : peer_(std::move(peer)) {
    const SharingFunctions& sharing = peer_->sharing();
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle;
    handle.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    handle.handle.fd = file;
    handle.size = size;
    const Current current(peer_->context());
    const BesideCaptures beside(peer_->context());
    if (const CUresult result = sharing.cuImportExternalMemory(&memory_, &handle); result != CUDA_SUCCESS) {
        close(file);
        peer_->context().fail(result, "cuImportExternalMemory failed");
    }
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer;
    buffer.size = size;
    if (const CUresult result = sharing.cuExternalMemoryGetMappedBuffer(&address_, memory_, &buffer);
        result != CUDA_SUCCESS) {
        (void)sharing.cuDestroyExternalMemory(memory_);
        peer_->context().fail(result, "cuExternalMemoryGetMappedBuffer failed");
    }
}

ImportedMemory::~ImportedMemory() {
    if (!peer_->context().process.is_here()) return;
    try {
        const Current current(peer_->context());
        (void)peer_->sharing().cuMemFree_v2(address_);
        (void)peer_->sharing().cuDestroyExternalMemory(memory_);
    } catch (...) {  // a destructor has nobody to tell
    }
}

ImportedTimeline::ImportedTimeline(std::shared_ptr<const Peer> peer, int file) : peer_(std::move(peer)) {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC handle;
    handle.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    handle.handle.fd = file;
    const Current current(peer_->context());
    if (const CUresult result = peer_->sharing().cuImportExternalSemaphore(&semaphore_, &handle);
        result != CUDA_SUCCESS) {
        close(file);
        peer_->context().fail(result, "cuImportExternalSemaphore failed");
    }
}

ImportedTimeline::~ImportedTimeline() {
    if (!peer_->context().process.is_here()) return;
    try {
        const Current current(peer_->context());
        (void)peer_->sharing().cuDestroyExternalSemaphore(semaphore_);
    } catch (...) {  // a destructor has nobody to tell
    }
}

void ImportedTimeline::signal(std::uint64_t value, CUstream stream) const {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS parameters;
    parameters.params.fence.value = value;
    const Current current(peer_->context());
    peer_->context().check(
        peer_->sharing().cuSignalExternalSemaphoresAsync(&semaphore_, &parameters, 1, stream),
        "cuSignalExternalSemaphoresAsync");
}

void ImportedTimeline::wait(std::uint64_t value, CUstream stream) const {
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS parameters;
    parameters.params.fence.value = value;
    const Current current(peer_->context());
    peer_->context().check(
        peer_->sharing().cuWaitExternalSemaphoresAsync(&semaphore_, &parameters, 1, stream),
        "cuWaitExternalSemaphoresAsync");
}

int ExportableBlock::export_file(const Peer& peer) const {
    int file = -1;
    const Current current(peer.context());
    peer.context().check(peer.sharing().cuMemExportToShareableHandle(
                             &file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                         "cuMemExportToShareableHandle");
    return file;
}

namespace {

/// All blocks of the process: the allocator that PyTorch calls has nothing but addresses.
struct Blocks {
    std::mutex mutex;
    std::map<int, std::shared_ptr<const Peer>> peers;
    std::map<CUdeviceptr, std::shared_ptr<ExportableBlock>> by_address;
};

Blocks& blocks() {
    static Blocks& all = *new Blocks();  // PyTorch may free after the process's own destructors
    return all;
}

/// Returns the device's peer, which is made where there is none yet. Needs the lock to be held.
const Peer& peer_of(Blocks& all, int ordinal) {
    std::shared_ptr<const Peer>& peer = all.peers[ordinal];
    if (peer == nullptr) peer = std::make_shared<const Peer>(ordinal);
    return *peer;
}

std::shared_ptr<ExportableBlock> make_block(const Peer& peer, std::uint64_t size, int ordinal) {
    const SharingFunctions& sharing = peer.sharing();
    const Current current(peer.context());
    const BesideCaptures beside(peer.context());
    const CUmemAllocationProp properties = exportable_on(ordinal);
    std::size_t step = 0;
    if (sharing.cuMemGetAllocationGranularity(&step, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) !=
            CUDA_SUCCESS ||
        step == 0) {
        return nullptr;
    }
    auto block = std::make_shared<ExportableBlock>();
    block->ordinal = ordinal;
    block->size = (size + step - 1) / step * step;
    if (sharing.cuMemCreate(&block->handle, block->size, &properties, 0) != CUDA_SUCCESS) return nullptr;
    const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (sharing.cuMemAddressReserve(&block->address, block->size, 0, 0, 0) == CUDA_SUCCESS) {
        if (sharing.cuMemMap(block->address, block->size, 0, block->handle, 0) == CUDA_SUCCESS) {
            if (sharing.cuMemSetAccess(block->address, block->size, &access, 1) == CUDA_SUCCESS) return block;
            (void)sharing.cuMemUnmap(block->address, block->size);
        }
        (void)sharing.cuMemAddressFree(block->address, block->size);
    }
    (void)sharing.cuMemRelease(block->handle);
    return nullptr;
}

}  // namespace

void* allocate_exportable(std::int64_t size, int ordinal) noexcept {
    try {
        if (size <= 0) return nullptr;
        Blocks& all = blocks();
        const std::lock_guard lock(all.mutex);
        auto block = make_block(peer_of(all, ordinal), static_cast<std::uint64_t>(size), ordinal);
        if (block == nullptr) return nullptr;
        void* const address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(block->address));
        all.by_address.emplace(block->address, std::move(block));
        return address;
    } catch (...) {  // C calls this
        return nullptr;
    }
}

void free_exportable(void* address) noexcept {
    try {
        Blocks& all = blocks();
        std::shared_ptr<ExportableBlock> block;
        std::shared_ptr<const Peer> peer;
        {
            const std::lock_guard lock(all.mutex);
            const auto found = all.by_address.find(reinterpret_cast<std::uintptr_t>(address));
            if (found == all.by_address.end()) return;
            block = std::move(found->second);
            all.by_address.erase(found);
            peer = all.peers.at(block->ordinal);
        }
        if (!peer->context().process.is_here()) return;
        const Current current(peer->context());
        const BesideCaptures beside(peer->context());
        (void)peer->context().cu.cuCtxSynchronize();  // as cudaFree() does
        (void)peer->sharing().cuMemUnmap(block->address, block->size);
        (void)peer->sharing().cuMemAddressFree(block->address, block->size);
        (void)peer->sharing().cuMemRelease(block->handle);
    } catch (...) {  // C calls this
    }
}

std::shared_ptr<ExportableBlock> find_exportable(CUdeviceptr address, std::uint64_t size) {
    Blocks& all = blocks();
    const std::lock_guard lock(all.mutex);
    auto found = all.by_address.upper_bound(address);
    if (found == all.by_address.begin()) return nullptr;
    --found;
    const ExportableBlock& block = *found->second;
    return address - block.address + size <= block.size ? found->second : nullptr;
}

}  // namespace kf::cuda
