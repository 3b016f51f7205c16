// An open CUDA device.
#include "cuda/device.h"

#include <kf/error.h>

#include <array>
#include <cstring>
#include <string>

#include "cuda/graph.h"
#include "cuda/result.h"
#include "cuda/timestamp.h"

namespace kf::cuda {
namespace {

constexpr std::size_t remembered_streams = 64;

}  // namespace

Shared::Shared(std::shared_ptr<Context> given_context, driver::Info given_info)
    : context(std::move(given_context)),
      info(std::move(given_info)),
      own(std::make_shared<Stream>(context)),
      memory(std::make_shared<Memory>(context, own)),
      modules(std::make_shared<Modules>(context)),
      uploads(context),
      commands(memory, context) {}

Shared::~Shared() {
    try {
        const Current current(*context);
        memory->close();
        (void)context->cu.cuStreamSynchronize(own->handle());
        memory->release_owners();
    } catch (...) {  // a lost device, or the end of the process
    }
}

std::shared_ptr<Stream> Shared::captured_stream(CUstream handle) {
    const std::lock_guard lock(mutex_);
    for (auto known = streams_.rbegin(); known != streams_.rend(); ++known) {
        if (known->second->handle() == handle) {
            return known->second;
        }
    }
    memory->expect_streams();
    std::shared_ptr<Stream>& stream = unnumbered_[handle];
    if (stream == nullptr) {
        stream = std::make_shared<Stream>(context, handle, 0);
    }
    return stream;
}

std::shared_ptr<Stream> Shared::stream(CUstream handle) {
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    context->check(context->cu.cuStreamIsCapturing(handle, &status), "cuStreamIsCapturing");
    if (status != CU_STREAM_CAPTURE_STATUS_NONE) {
        return captured_stream(handle);
    }
    unsigned long long id = 0;
    context->check(context->cu.cuStreamGetId(handle, &id), "cuStreamGetId");
    const std::lock_guard lock(mutex_);
    if (const auto found = streams_.find(id); found != streams_.end()) {
        return found->second;
    }
    CUcontext of = nullptr;
    context->check(context->cu.cuStreamGetCtx(handle, &of), "cuStreamGetCtx");
    if (of != context->handle()) {
        throw ArgumentError(ErrorCode::device_mismatch, "cuda: the stream is of another device than " +
                                                            info.backend + ":" + std::to_string(info.index) +
                                                            " (" + info.name +
                                                            "), or not of its primary context");
    }
    // A stream that is forgotten costs a needless wait when it is met again.
    while (streams_.size() >= remembered_streams) {
        streams_.erase(streams_.begin());
    }
    memory->expect_streams();
    unnumbered_.erase(handle);
    return streams_.emplace(id, std::make_shared<Stream>(context, handle, id)).first->second;
}

CudaDevice::CudaDevice(std::shared_ptr<Shared> shared, std::shared_ptr<Stream> stream)
    : shared_(std::move(shared)), stream_(std::move(stream)) {}

void CudaDevice::refuse_capture(const char* what) const {
    if (stream_->is_capturing()) {
        throw DeviceError(ErrorCode::stream_captured,
                          std::string("cuda: the stream is being captured into a graph, and ") + what,
                          CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
}

void CudaDevice::wait_interruptibly() const {
    const Current current = enter();
    if (while_waiting != nullptr && !stream_->is_capturing()) {
        stream_->wait(while_waiting);
    }
}

void CudaDevice::admit(std::uint64_t upload) {
    if (upload == 0 || while_waiting == nullptr) {
        return;
    }
    bool has_room = true;
    {
        const Current current(*shared_->context);
        has_room = stream_->is_capturing() || shared_->uploads.has_room(upload, *stream_);
    }
    if (!has_room) {
        wait_interruptibly();
    }
}

Current CudaDevice::enter() const {
    shared_->context->check_usable();
    return Current(*shared_->context);
}

std::shared_ptr<driver::Allocation> CudaDevice::allocate(std::uint64_t size) {
    const Current current = enter();
    return shared_->memory->take(size, stream_);
}

std::shared_ptr<driver::Allocation> CudaDevice::allocate_scratch(std::uint64_t size) {
    const Current current = enter();
    return shared_->memory->take_scratch(size, stream_);
}

std::shared_ptr<driver::Allocation> CudaDevice::zeros(std::uint64_t size) {
    const Current current = enter();
    return shared_->memory->take_zeros(size, stream_);
}

std::shared_ptr<driver::Allocation> CudaDevice::allocate_mapped(std::uint64_t size) {
    shared_->context->check_usable();
    if (stream_->owned()) {
        return shared_->memory->take_mapped(size, stream_);
    }
    const Current current(*shared_->context);
    return shared_->memory->take_mapped(size, stream_);
}

std::shared_ptr<driver::Allocation> CudaDevice::wrap(driver::ForeignMemory memory) {
    const Current current = enter();
    return shared_->memory->wrap(std::move(memory), stream_);
}

void CudaDevice::lend(const std::shared_ptr<driver::Allocation>& memory) {
    const Current current = enter();
    shared_->memory->lend(*memory, *stream_);
}

std::shared_ptr<driver::Kernel> CudaDevice::load_kernel(const manifest::Kernel& kernel) {
    const Current current = enter();
    if (stream_->is_capturing()) {
        refuse_capture(("kernel '" + kernel.name +
                        "' isn't loaded yet: call the module's load(), or this function once, before the "
                        "capture begins")
                           .c_str());
    }
    const BesideCaptures beside(*shared_->context);
    return std::make_shared<CudaKernel>(shared_->modules, kernel);
}

void CudaDevice::dispatch(const driver::Dispatch& dispatch) {
    shared_->context->check_usable();
    (void)shared_->commands.check(dispatch);
    const Current current(*shared_->context);
    shared_->commands.dispatch(dispatch, stream_);
}

void CudaDevice::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                      std::uint64_t size, std::uint32_t word) {
    shared_->context->check_usable();
    shared_->commands.check_fill(target.get(), offset, size);
    const Current current(*shared_->context);
    shared_->commands.fill(target.get(), offset, size, word, stream_);
}

void CudaDevice::copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
                      const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
                      std::uint64_t size) {
    shared_->context->check_usable();
    shared_->commands.check_copy(target.get(), target_offset, source.get(), source_offset, size);
    const Current current(*shared_->context);
    shared_->commands.copy(target.get(), target_offset, source.get(), source_offset, size, stream_);
}

void CudaDevice::upload(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                        std::span<const std::byte> bytes) {
    shared_->context->check_usable();
    shared_->commands.check_range(target.get(), offset, bytes.size(), "write");
    if (bytes.empty()) {
        return;
    }
    const Current current(*shared_->context);
    refuse_capture(
        "nothing can be copied in: write to tensors before the capture begins, or to the same tensors "
        "between "
        "runs of the graph");
    if (target->host != nullptr && static_cast<const CudaAllocation&>(*target).is_idle()) {
        std::memcpy(target->host + offset, bytes.data(), bytes.size());
        return;
    }
    const std::array uses{driver::Use{target, true}};
    shared_->memory->order(uses, stream_,
                           [&] { shared_->uploads.copy_in(target->address + offset, bytes, *stream_); });
}

void CudaDevice::read_back(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                           std::span<std::byte> bytes) {
    const Context& context = *shared_->context;
    context.check_usable();
    shared_->commands.check_range(source.get(), offset, bytes.size(), "read");
    if (bytes.empty()) {
        return;
    }
    const Current current(context);
    check_read_back();
    const BesideCaptures beside(context);
    if (source->host != nullptr) {
        read_mapped(source, offset, bytes);
        return;
    }
    if (std::shared_ptr<CudaAllocation> landing = shared_->memory->take_mapped(bytes.size(), stream_)) {
        const std::array uses{driver::Use{source, false}, driver::Use{landing, true}};
        shared_->memory->order(uses, stream_, [&] {
            context.check(context.cu.cuMemcpyDtoHAsync_v2(landing->host, source->address + offset,
                                                          bytes.size(), stream_->handle()),
                          "cuMemcpyDtoHAsync");
        });
        read_mapped(landing, 0, bytes);
        return;
    }
    const std::array uses{driver::Use{source, false}};
    // The copy may wait inside, and other threads needn't: all is done when this returns.
    shared_->memory->order(uses, stream_, [] {});
    // Copies to memory that isn't pinned wait inside of the driver.
    if (while_waiting != nullptr) {
        stream_->wait(while_waiting);
    }
    context.check(context.cu.cuMemcpyDtoHAsync_v2(bytes.data(), source->address + offset, bytes.size(),
                                                  stream_->handle()),
                  "cuMemcpyDtoHAsync");
    context.check(context.cu.cuStreamSynchronize(stream_->handle()), "cuStreamSynchronize");
}

void CudaDevice::read_mapped(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                             std::span<std::byte> bytes) {
    auto& from = static_cast<CudaAllocation&>(*source);
    if (!from.is_idle()) {
        // The read is ordered as a write is: after all that other streams do with the memory. Their later
        // work isn't waited for.
        const std::array uses{driver::Use{source, true}};
        std::uint64_t issued = 0;
        shared_->memory->order(uses, stream_, [&] { issued = from.issued() + 1; });  // with this use
        stream_->wait(while_waiting);
        from.note_done(issued);
    }
    std::memcpy(bytes.data(), from.host + offset, bytes.size());
}

void CudaDevice::check_read_back() const {
    if (stream_->owned()) {
        return;
    }
    const Current current(*shared_->context);
    refuse_capture(
        "nothing can be read back: give calls tensors for results and gradients, and read those when the "
        "graph "
        "has run");
}

void CudaDevice::flush() { shared_->context->check_usable(); }

void CudaDevice::wait() {
    const Context& context = *shared_->context;
    const Current current = enter();
    refuse_capture("can't be waited for: end the capture first");
    const BesideCaptures beside(context);
    stream_->wait(while_waiting);
    shared_->memory->release_owners();
}

std::unique_ptr<driver::Recorder> CudaDevice::make_recorder() {
    shared_->context->check_usable();
    return std::make_unique<CudaRecorder>(shared_->commands);
}

void CudaDevice::submit(std::unique_ptr<driver::Recorder> recorder) {
    const auto* ours = dynamic_cast<const CudaRecorder*>(recorder.get());
    if (ours == nullptr || ours->context() != shared_->context.get()) {
        throw ArgumentError(ErrorCode::device_mismatch, "cuda: the recorder to submit is not of this device");
    }
    const Current current = enter();
    ours->run(stream_);
}

std::unique_ptr<driver::Graph> CudaDevice::make_graph() {
    const Current current = enter();
    return std::make_unique<CudaGraph>(shared_->commands, shared_->context);
}

void CudaDevice::replay(driver::Graph& graph) {
    auto* ours = dynamic_cast<CudaGraph*>(&graph);
    if (ours == nullptr || ours->context() != shared_->context.get()) {
        throw ArgumentError(ErrorCode::device_mismatch, "cuda: the graph to replay is not of this device");
    }
    const Current current = enter();
    shared_->memory->order(ours->uses(), stream_, [&] { ours->launch(stream_->handle()); });
}

void CudaDevice::dispatch_again(const driver::Dispatch& dispatch) {
    shared_->context->check_usable();
    const Current current(*shared_->context);
    shared_->commands.dispatch(dispatch, stream_);
}

std::shared_ptr<driver::Timestamp> CudaDevice::mark_time() {
    const Current current = enter();
    // A captured event has no time.
    if (stream_->is_capturing()) return nullptr;
    return std::make_shared<CudaTimestamp>(shared_->context, stream_->handle());
}

double CudaDevice::nanoseconds(const driver::Timestamp& from, const driver::Timestamp& to) const {
    const Current current = enter();
    return static_cast<const CudaTimestamp&>(from).nanoseconds_to(static_cast<const CudaTimestamp&>(to));
}

void CudaDevice::check_replay() const {
    if (stream_->owned()) {
        return;
    }
    const Current current(*shared_->context);
    refuse_capture("what was prepared can't be part of that graph: make the calls themselves");
}

std::shared_ptr<driver::Device> CudaDevice::on_stream(void* stream) {
    const Current current = enter();
    auto device = std::make_shared<CudaDevice>(shared_, shared_->stream(static_cast<CUstream>(stream)));
    device->while_waiting = while_waiting;
    return device;
}

bool CudaDevice::is_on_stream(void* stream) const {
    if (stream_->owned() || stream != stream_->handle()) {
        return false;
    }
    // The legacy default stream and a thread's own one are always there.
    constexpr std::uintptr_t last_named = 2;
    if (reinterpret_cast<std::uintptr_t>(stream) <= last_named) {
        return true;
    }
    const Current current(*shared_->context);
    unsigned long long id = 0;
    return !stream_->is_capturing() &&
           shared_->context->cu.cuStreamGetId(stream_->handle(), &id) == CUDA_SUCCESS && id == stream_->id();
}

Statistics CudaDevice::statistics() const {
    const Current current(*shared_->context);
    const Memory::Usage usage = shared_->memory->usage();
    return {usage.reserved, usage.used};
}

}  // namespace kf::cuda
