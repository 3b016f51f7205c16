// Small calls by hand on CUDA: its driver's functions and nothing else in what is timed.
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "cuda/context.h"
#include "measure.h"
#include "small.h"

namespace bench_support {
namespace {

using namespace kf::cuda;

constexpr std::size_t room = 64UL << 10;  ///< bytes of each piece of memory

std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// What both ways share.
struct Program {
    Program(int index, const std::filesystem::path& ptx) {
        const auto library = std::make_shared<const Library>("libcuda.so.1");
        context = std::make_unique<Context>(library, describe(*library, index));
        const Functions& cu = context->cu;
        const Current current(*context);
        const std::string text = read_text(ptx);
        context->check(cu.cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr), "cuModuleLoadData");
        context->check(cu.cuModuleGetFunction(&add, module, "add"), "cuModuleGetFunction");
        context->check(cu.cuModuleGetFunction(&polynomial, module, "polynomial"), "cuModuleGetFunction");
        context->check(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        for (std::byte** piece : {&in, &out}) {
            void* host = nullptr;
            context->check(cu.cuMemHostAlloc(&host, room, 0), "cuMemHostAlloc");
            *piece = static_cast<std::byte*>(host);
        }
        CUmemPoolProps properties;
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.id = context->physical().handle;
        context->check(cu.cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate");
        for (CUdeviceptr* piece : {&device_in, &device_out}) {
            context->check(cu.cuMemAllocFromPoolAsync(piece, room, pool, stream), "cuMemAllocFromPoolAsync");
        }
        context->check(cu.cuStreamSynchronize(stream), "cuStreamSynchronize");
    }

    template <class Block>
    void launch(CUfunction function, unsigned groups, unsigned threads, Block block) const {
        std::size_t size = sizeof block;
        void* extra[] = {reinterpret_cast<void*>(launch_buffer_pointer), &block,
                         reinterpret_cast<void*>(launch_buffer_size), &size, nullptr};
        check(context->cu.cuLaunchKernel(function, groups, 1, 1, threads, 1, 1, 0, stream, nullptr, extra));
    }
    void copy_in(std::size_t size) const {
        check(context->cu.cuMemcpyHtoDAsync_v2(device_in, in, size, stream));
    }
    void copy_out(std::size_t size) const {
        check(context->cu.cuMemcpyDtoHAsync_v2(out, device_out, size, stream));
    }
    void wait() const { check(context->cu.cuStreamSynchronize(stream)); }
    static void check(CUresult result) {
        if (result != CUDA_SUCCESS) throw std::runtime_error("CUDA: " + std::to_string(result));
    }

    // Kept until the process ends, like the context.
    std::unique_ptr<Context> context;
    CUmodule module = nullptr;
    CUfunction add = nullptr;
    CUfunction polynomial = nullptr;
    CUstream stream = nullptr;
    CUmemoryPool pool = nullptr;
    std::byte* in = nullptr;
    std::byte* out = nullptr;
    CUdeviceptr device_in = 0;
    CUdeviceptr device_out = 0;
};

class CudaCalls final : public HandCalls {
public:
    CudaCalls(std::shared_ptr<const Program> program, bool mapped)
        : program_(std::move(program)), current_(*program_->context), mapped_(mapped) {}

    int add(int a, int b) override {
        const Program& p = *program_;
        p.launch(p.add, 1, 1, AddBlock{mapped_ ? address(p.out) : p.device_out, a, b});
        if (!mapped_) p.copy_out(sizeof(int));
        p.wait();
        int result = 0;
        std::memcpy(&result, p.out, sizeof result);
        return result;
    }
    void polynomial(const std::vector<float>& x, std::vector<float>& y) override {
        const Program& p = *program_;
        const std::size_t size = x.size() * sizeof(float);
        const auto count = static_cast<std::uint32_t>(x.size());
        std::memcpy(p.in, x.data(), size);
        if (!mapped_) p.copy_in(size);
        p.launch(p.polynomial, (count + small_group - 1) / small_group, small_group,
                 PolynomialBlock{mapped_ ? address(p.out) : p.device_out,
                                 mapped_ ? address(p.in) : p.device_in, 2, 8, -1, count});
        if (!mapped_) p.copy_out(size);
        p.wait();
        std::memcpy(y.data(), p.out, size);
    }

private:
    static CUdeviceptr address(const std::byte* host) { return reinterpret_cast<CUdeviceptr>(host); }

    std::shared_ptr<const Program> program_;
    Current current_;
    bool mapped_;
};

}  // namespace

NamedCalls cuda_by_hand(int index, const std::filesystem::path& ptx) {
    const auto program = std::make_shared<const Program>(index, ptx);
    NamedCalls calls;
    calls.emplace_back("copied", std::make_unique<CudaCalls>(program, false));
    calls.emplace_back("mapped", std::make_unique<CudaCalls>(program, true));
    return calls;
}

}  // namespace bench_support
