// What the tests of the CUDA driver share: a device, fake or real, and a kernel that runs on both.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "application.h"
#include "core/sha256.h"
#include "cuda/driver.h"
#include "runtime/driver_testing.h"
#include "runtime/fake_driver/cuda.h"

namespace kf::test {

inline manifest::Image cuda_image(const std::string& format, const std::string& architecture,
                                  std::vector<std::byte> bytes, const std::string& entry_point = "add_step") {
    manifest::Image image;
    image.format = format;
    image.architecture = architecture;
    image.entry_point = entry_point;
    image.sha256 = sha256(bytes);
    image.bytes = std::move(bytes);
    return image;
}

/// With no image.
inline manifest::Kernel bare_kernel(const std::string& name = "add_step",
                                    const driver::Grid& group_size = {64, 1, 1},
                                    std::int64_t block_size = sizeof(AddStep)) {
    manifest::Kernel kernel;
    kernel.name = name;
    kernel.group_size = group_size;
    kernel.layouts["cuda"] = {block_size, {}, manifest::Passing::value};
    return kernel;
}

/// With kernels/NAME.ptx, which a real driver takes, and of which the fake one can read what it needs.
inline manifest::Kernel with_ptx(manifest::Kernel kernel) {
    std::ifstream file(std::string(KF_SOURCE_DIR) + "/tests/runtime/cuda/kernels/" + kernel.name + ".ptx");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto bytes = std::as_bytes(std::span(text));
    kernel.images.push_back(cuda_image("ptx", "sm_70", {bytes.begin(), bytes.end()}, kernel.name));
    return kernel;
}

inline manifest::Kernel add_step_kernel() { return with_ptx(bare_kernel()); }

inline manifest::Kernel add_place_kernel() {
    return with_ptx(bare_kernel("add_place", add_place_threads, sizeof(AddPlace)));
}

inline manifest::Kernel add_buffers_kernel() {
    manifest::Kernel kernel = with_ptx(bare_kernel("add_buffers", {64, 1, 1}, 40));
    kernel.resources = add_buffers_resources();
    kernel.layouts["cuda"].resource_places = {8, 24};
    return kernel;
}

inline cuda::CUresult run_add_step(const std::byte* block, const FakeCuda::Extents& groups,
                                   const FakeCuda::Extents& threads) {
    AddStep parameters;
    std::memcpy(&parameters, block, sizeof parameters);
    auto* target = reinterpret_cast<std::uint32_t*>(parameters.target);
    const auto* source = reinterpret_cast<const std::uint32_t*>(parameters.source);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(parameters.count, groups[0] * threads[0]); ++i) {
        target[i] = source[i] + parameters.step;
    }
    return cuda::CUDA_SUCCESS;
}

inline cuda::CUresult run_add_place(const std::byte* block, const FakeCuda::Extents& groups,
                                    const FakeCuda::Extents& threads) {
    AddPlace parameters;
    std::memcpy(&parameters, block, sizeof parameters);
    auto* target = reinterpret_cast<std::uint32_t*>(parameters.target);
    const auto& [width, height, depth] = parameters.extents;
    for (std::uint32_t z = 0; z < std::min(depth, groups[2] * threads[2]); ++z) {
        for (std::uint32_t y = 0; y < std::min(height, groups[1] * threads[1]); ++y) {
            for (std::uint32_t x = 0; x < std::min(width, groups[0] * threads[0]); ++x) {
                target[x + width * (y + height * z)] += 1 + x + 1000 * y + 1000000 * z;
            }
        }
    }
    return cuda::CUDA_SUCCESS;
}

inline cuda::CUresult run_add_buffers(const std::byte* block, const FakeCuda::Extents& groups,
                                      const FakeCuda::Extents& threads) {
    std::array<std::uint64_t, 5> words{};  // step, source and its length, target and its length
    std::memcpy(words.data(), block, sizeof words);
    const auto* source = reinterpret_cast<const std::uint32_t*>(words[1]);
    auto* target = reinterpret_cast<std::uint32_t*>(words[3]);
    const std::uint64_t all = std::uint64_t{groups[0]} * threads[0];
    for (std::uint64_t i = 0; i < std::min({all, words[2], words[4]}); ++i) {
        target[i] = source[i] + static_cast<std::uint32_t>(words[0]);
    }
    return cuda::CUDA_SUCCESS;
}

inline void add_kernels(FakeCuda& fake) {
    fake.kernels = {
        {"add_step", &run_add_step}, {"add_place", &run_add_place}, {"add_buffers", &run_add_buffers}};
    fake.block_sizes = {{"add_step", sizeof(AddStep)}, {"add_place", sizeof(AddPlace)}, {"add_buffers", 40}};
}

/// The fake driver, of which nothing may be left over or have gone wrong in the end.
class FakeCudaTest : public ::testing::Test {
protected:
    FakeCudaTest() {
        options_.lookup = &FakeCuda::lookup;
        add_kernels(fake_);
    }
    ~FakeCudaTest() override {
        EXPECT_THAT(fake_.violations, ::testing::IsEmpty());
        EXPECT_EQ(fake_.live_objects(), 0);
        EXPECT_EQ(fake_.live_allocations(), 0);
    }

    std::shared_ptr<driver::Device> open(int index = 0) { return cuda::open_cuda(index, options_); }

    FakeCuda fake_;
    cuda::OpenOptions options_;
};

enum class Driver { fake, real };

/// Each test on the fake driver, with `gpus` GPUs, and on the real ones where there are so many.
class CudaTest : public ::testing::TestWithParam<Driver> {
protected:
    explicit CudaTest(std::size_t gpus = 1) : gpus_(gpus) {}

    void SetUp() override {
        if (GetParam() == Driver::real) {
            std::string why_not;
            const std::size_t count = cuda::enumerate_cuda(&why_not).size();
            if (count < gpus_) {
                GTEST_SKIP() << (gpus_ == 1 ? "needs a GPU: " + why_not
                                            : "needs " + std::to_string(gpus_) + " GPUs");
            }
            application_ = real_application();
        } else {
            fake_.emplace();
            fake_->gpus.resize(gpus_);
            add_kernels(*fake_);
            options_.lookup = &FakeCuda::lookup;
            application_ = fake_application(*fake_);
        }
        device_ = cuda::open_cuda(0, options_);
    }
    void TearDown() override {
        device_ = nullptr;
        if (fake_) {
            EXPECT_THAT(fake_->violations, ::testing::IsEmpty());
            EXPECT_EQ(fake_->live_objects(), 0);
            EXPECT_EQ(fake_->live_allocations(), 0);
        }
    }

    std::size_t gpus_;
    std::optional<FakeCuda> fake_;
    std::unique_ptr<Application> application_;
    cuda::OpenOptions options_;
    std::shared_ptr<driver::Device> device_;
};

inline std::string driver_name(const ::testing::TestParamInfo<Driver>& info) {
    return info.param == Driver::fake ? "fake" : "real";
}

}  // namespace kf::test
