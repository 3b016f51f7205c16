// CPU times: our calls, by turns with bare cuLaunchKernel loops of the same kernels with the same parameters.
#include <cuda.h>
#include <kf/graph.h>

#include <cstring>
#include <functional>

#include "bench.h"
#include "core/artifact.h"
#include "cuda_bench.h"
#include "measure.h"

namespace {

using namespace bench_support;
using kf::manifest::GradMode;
using kf::manifest::RecordKind;
using Tensor = kf::Tensor<float, 1>;

constexpr std::int64_t count = 1024;
constexpr int launches = 400;  ///< a round: fewer than wait in a stream before launching blocks
constexpr int rounds = 51;
constexpr int graph_calls = 20;

void check_driver(CUresult result) {
    if (result != CUDA_SUCCESS) {
        const char* text = nullptr;
        cuGetErrorString(result, &text);
        throw std::runtime_error(std::string("CUDA: ") + (text == nullptr ? "unknown error" : text));
    }
}

/// What the runtime would find out on each call: here it is known beforehand.
struct Known {
    const kf::manifest::Call& call;
    const kf::manifest::Kernel& kernel;
    std::vector<Tensor> tensors;  ///< one an argument
    std::uint32_t groups;
};

template <class T>
void put(std::vector<std::byte>& block, std::int64_t offset, T value) {
    std::memcpy(block.data() + offset, &value, sizeof value);
}

std::vector<std::byte> pack(const Known& known) {
    const kf::manifest::BlockLayout& layout = known.kernel.layouts.at("cuda");
    std::vector<std::byte> block(static_cast<std::size_t>(layout.size));
    for (std::size_t i = 0; i < known.kernel.records.size(); ++i) {
        const kf::manifest::Record& record = known.kernel.records[i];
        const Tensor tensor =
            record.argument < 0 ? Tensor() : known.tensors[static_cast<std::size_t>(record.argument)];
        const bool whole = tensor && tensor.size() == count;
        const std::int64_t at = layout.offsets[i];
        if (record.numbers() > (record.kind == RecordKind::shape ? 1 : 0)) {
            throw std::runtime_error("the benchmark's kernels have no strides");
        }
        switch (record.kind) {
            case RecordKind::launch:
                put(block, at, count);
                put(block, at + 8, known.groups);
                break;
            case RecordKind::shape: put(block, at, count); break;
            case RecordKind::value: put(block, at, 1.0F); break;
            case RecordKind::data:
                put(block, at, tensor.address());
                if (record.flagged) put(block, at + 8, std::uint32_t{whole ? 1U : 0U});
                break;
            case RecordKind::grad_in: put(block, at, tensor.grad_in().address()); break;
            case RecordKind::grad_out:
                put(block, at, tensor.grad_out().address());
                put(block, at + 8,
                    static_cast<std::uint32_t>(whole ? GradMode::injective : GradMode::everywhere));
                break;
            default: throw std::runtime_error("the benchmark's kernels have no such parameters");
        }
    }
    return block;
}

/// The kernel's cubin, loaded as any CUDA program would.
class BareKernel {
public:
    explicit BareKernel(const Known& known) : block_(pack(known)), groups_(known.groups) {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, 0));
        const std::string architecture =
            "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
        threads_ = known.kernel.group_size[0];
        for (const kf::manifest::Image& image : known.kernel.images) {
            if (image.format == "cubin" && image.architecture == architecture) {
                check_driver(cuModuleLoadData(&module_, image.bytes.data()));
                check_driver(cuModuleGetFunction(&function_, module_, image.entry_point.c_str()));
                return;
            }
        }
        throw std::runtime_error("the artifact has no cubin for " + architecture);
    }
    BareKernel(const BareKernel&) = delete;
    BareKernel& operator=(const BareKernel&) = delete;
    ~BareKernel() { cuModuleUnload(module_); }

    void launch(CUstream stream) {
        std::size_t size = block_.size();
        void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block_.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                         CU_LAUNCH_PARAM_END};
        check_driver(cuLaunchKernel(function_, groups_, 1, 1, threads_, 1, 1, 0, stream, nullptr, extra));
    }

private:
    std::vector<std::byte> block_;
    unsigned groups_;
    unsigned threads_ = 0;
    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
};

/// Microseconds of each call, in the order given; `each`: how often it is made a round.
std::vector<double> compare(const std::function<void()>& wait,
                            const std::vector<std::function<void()>>& calls, int each) {
    std::vector<std::vector<double>> times(calls.size());
    for (int round = -3; round < rounds; ++round) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const double time = seconds([&] {
                for (int launch = 0; launch < each; ++launch) calls[i]();
            });
            wait();
            if (round >= 0) times[i].push_back(1e6 * time / each);
        }
    }
    std::vector<double> result;
    for (const std::vector<double>& one : times) {
        result.push_back(median(one));
    }
    return result;
}

}  // namespace

nlohmann::json time_calls(const kf::Device& device) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    nlohmann::json result;
    {
        const kf::manifest::Manifest manifest =
            kf::artifact::read(kf::artifact::read_file(KF_BENCH_ARTIFACT));
        const auto& calls = manifest.functions.at(0).calls;
        const auto& values = calls.at(0);
        const auto& tensors = calls.at(1);
        const auto kernel = [&](std::int64_t index) -> const kf::manifest::Kernel& {
            return manifest.kernels.at(static_cast<std::size_t>(index));
        };
        const bench::Module own(device);
        const bench::Module streamed(device.with_stream(stream));

        const std::vector<float> numbers = uniform(count, 1);
        const auto x = device.tensor(numbers).with_grads();
        const auto y = device.empty<float>({count}).with_grads(device.tensor(numbers), {});
        const auto a = device.tensor<float>({2}).with_grads();
        const auto b = device.tensor<float>({8}).with_grads();
        const auto c = device.tensor<float>({-1}).with_grads();
        const auto groups = [&](const kf::manifest::Kernel& of) {
            return static_cast<std::uint32_t>((count - 1) / (of.group_size[0] * of.calls_per_thread) + 1);
        };
        const auto& forward = kernel(values.forward.contiguous);
        const auto& backward = kernel(tensors.backward.contiguous);
        BareKernel bare_forward({values, forward, {{}, {}, {}, x, y}, groups(forward)});
        BareKernel bare_backward({tensors, backward, {a, b, c, x, y}, groups(backward)});
        const auto prepared = own.polynomial.prepare(2, 8, -1, x, kf::out(y));
        const auto prepared_backward = own.polynomial.backward.prepare(a, b, c, x, y);
        kf::Graph graph(device);
        kf::Graph changed(device);
        for (int i = 0; i < graph_calls; ++i) {
            prepared.append_to(graph.encoder());
            prepared.append_to(changed.encoder());
        }
        graph.replay();
        const kf::PreparedCall last = changed.node();
        float next = 0;
        device.wait();

        const auto wait = [&] {
            check(cudaStreamSynchronize(stream));
            device.wait();
        };
        const std::vector<std::function<void()>> all = {
            [&] { bare_forward.launch(stream); },
            [&] { streamed.polynomial(2, 8, -1, x, kf::out(y)); },
            [&] { own.polynomial(2, 8, -1, x, kf::out(y)); },
            [&] { static_cast<void>(own.polynomial(2, 8, -1, x)); },
            [&] { bare_backward.launch(stream); },
            [&] { streamed.polynomial.backward(a, b, c, x, y); },
            [&] { own.polynomial.backward(a, b, c, x, y); },
            [&] { prepared(); },
            [&] {
                prepared.set("c", next += 1);
                prepared();
            },
            [&] { prepared_backward(); },
        };
        // Fewer a round: a graph is many commands.
        const std::vector<std::function<void()>> graphs = {
            [&] {
                for (int i = 0; i < graph_calls; ++i) bare_forward.launch(stream);
            },
            [&] { graph.replay(); },
            [&] {
                last.set("c", next += 1);
                changed.replay();
            },
        };
        const std::vector<double> times = compare(wait, all, launches);
        const std::vector<double> replays = compare(wait, graphs, launches / graph_calls);
        result = {{"unit", "us of CPU time a call"},
                  {"count", count},
                  {"forward.bare", times[0]},
                  {"forward.stream", times[1]},
                  {"forward", times[2]},
                  {"forward.returned", times[3]},
                  {"backward.bare", times[4]},
                  {"backward.stream", times[5]},
                  {"backward", times[6]},
                  {"prepared", times[7]},
                  {"prepared.set", times[8]},
                  {"prepared.backward", times[9]},
                  {"graph.bare", replays[0]},
                  {"graph", replays[1]},
                  {"graph.set", replays[2]},
                  {"of_bare",
                   {{"forward.stream", times[1] / times[0]},
                    {"forward", times[2] / times[0]},
                    {"backward.stream", times[5] / times[4]},
                    {"backward", times[6] / times[4]},
                    {"prepared", times[7] / times[0]},
                    {"prepared.set", times[8] / times[0]},
                    {"prepared.backward", times[9] / times[4]},
                    {"graph", replays[1] / replays[0]},
                    {"graph.set", replays[2] / replays[0]}}}};
    }
    check(cudaStreamDestroy(stream));
    return result;
}
