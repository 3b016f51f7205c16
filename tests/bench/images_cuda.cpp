// Launches the kernels on images written by hand for CUDA.
#include "cuda_bench.h"
#include "images_by_hand.h"
#include "reference_images.h"

namespace bench_support {

namespace {

class OnCuda : public ImagesByHand {
public:
    OnCuda(int side, std::span<const float> weights)
        : side_(side), image_(side), between_(side), blurred_(side) {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaMalloc(&weights_, weights.size_bytes()));
        check(cudaMemcpy(weights_, weights.data(), weights.size_bytes(), cudaMemcpyHostToDevice));
    }
    OnCuda(const OnCuda&) = delete;
    OnCuda& operator=(const OnCuda&) = delete;
    ~OnCuda() override {
        cudaFree(weights_);
        cudaStreamDestroy(stream_);
    }

    void fill(const std::array<float, 4>& color) override {
        reference::fill(image_, side_, {color[0], color[1], color[2], color[3]}, stream_);
    }
    void blur() override {
        reference::blur(image_, between_, blurred_, static_cast<const float*>(weights_), side_, stream_);
    }
    void wait() override { check(cudaStreamSynchronize(stream_)); }

private:
    int side_;
    reference::Image image_, between_, blurred_;
    void* weights_ = nullptr;
    cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<ImagesByHand> images_on_cuda(int side, std::span<const float> weights) {
    check(cudaSetDevice(0));
    return std::make_unique<OnCuda>(side, weights);
}

}  // namespace bench_support
