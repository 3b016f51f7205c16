// Tests of samplers: what they read, and which there are.
#include "images_testing.h"

namespace kf::test {
namespace {

using ::testing::HasSubstr;

class SamplersTest : public ImagesTest {
protected:
    void SetUp() override {
        ImagesTest::SetUp();
        kernel_ = device_->load_kernel(sample_kernel());
        image_ = make(two, TextureFormat::r32f, {4, 1, 1}, 3);
        for (std::uint32_t mip = 0; mip < 3; ++mip) {
            Floats texels(4U >> mip);
            std::iota(texels.begin(), texels.end(), 10.F * static_cast<float>(mip) + 1);
            device_->upload_image(image_, whole_mip(image_->shape, mip), bytes_of(texels));
        }
    }
    /// Samples 33 times from -0.5 to 1.5.
    Floats sample(const driver::SamplerDescription& description, float lod = 0) {
        constexpr std::uint32_t count = 33;
        const auto target = device_->allocate(count * 16);
        run(*device_, kernel_, {1, 1, 1}, SampleBlock{-0.5F, 0.5F, 2.F / 32, lod, count},
            {driver::ImageBinding{image_, {0, 3, 0, 1, two, false}, nullptr},
             driver::SamplerBinding{device_->make_sampler(description)}, range(target)});
        Floats all(std::size_t{count} * 4);
        device_->read_back(target, 0, std::as_writable_bytes(std::span(all)));
        Floats found;
        for (std::size_t i = 0; i < count; ++i) found.push_back(all[i * 4]);
        return found;
    }

    std::shared_ptr<driver::Kernel> kernel_;
    ImagePtr image_;
};

TEST_F(SamplersTest, FilterAndAddress) {
    using driver::Address;
    using driver::Filter;
    for (const Address address : {Address::repeat, Address::mirror, Address::clamp, Address::border}) {
        for (const Filter filter : {Filter::nearest, Filter::linear}) {
            driver::SamplerDescription description;
            description.minify = description.magnify = filter;
            description.mip = Filter::nearest;
            description.address = {address, address, address};
            description.border = {1, 1, 1, 1};
            const auto texel = [&](int i) -> double {
                const auto number = [](int at) { return at + 1.0; };
                switch (address) {
                    case Address::repeat: return number((i % 4 + 4) % 4);
                    case Address::mirror: {
                        const int m = (i % 8 + 8) % 8;
                        return number(m < 4 ? m : 7 - m);
                    }
                    case Address::clamp: return number(std::clamp(i, 0, 3));
                    case Address::border: break;
                }
                return i < 0 || i > 3 ? 1.0 : number(i);
            };
            const Floats found = sample(description);
            for (int i = 0; i < 33; ++i) {
                const double at = (-0.5 + i * 2.0 / 32) * 4;
                if (filter == Filter::nearest) {
                    if (at == std::floor(at)) continue;  // between two texels
                    EXPECT_EQ(found[static_cast<std::size_t>(i)], texel(static_cast<int>(std::floor(at))));
                    continue;
                }
                const double middle = at - 0.5;
                const int below = static_cast<int>(std::floor(middle));
                const double part = middle - below;
                // Across the first row the border is above and below, too: one row alone, at its middle.
                EXPECT_NEAR(found[static_cast<std::size_t>(i)],
                            texel(below) * (1 - part) + texel(below + 1) * part, 0.02)
                    << static_cast<int>(address) << " at " << at;
            }
        }
    }
}

TEST_F(SamplersTest, LevelsOfDetail) {
    driver::SamplerDescription description;
    description.mip = driver::Filter::nearest;
    EXPECT_EQ(sample(description, 0)[16], 2.5F);
    EXPECT_EQ(sample(description, 1)[16], 11.5F);
    EXPECT_EQ(sample(description, 7)[16], 21.F);
    description.mip = driver::Filter::linear;
    EXPECT_NEAR(sample(description, 0.5)[16], 7.F, 0.05);
    description.lod_max = 1;
    EXPECT_EQ(sample(description, 7)[16], 11.5F);
    description.lod_min = 1;
    EXPECT_EQ(sample(description, 0)[16], 11.5F);
    description.lod_max = 1000;
    description.lod_bias = 2;
    EXPECT_EQ(sample(description, 0)[16], 21.F);
}

TEST_F(SamplersTest, EqualOnesAreOne) {
    driver::SamplerDescription description;
    const auto first = device_->make_sampler(description);
    EXPECT_EQ(device_->make_sampler(description), first);
    description.anisotropy = 4;
    const auto second = device_->make_sampler(description);
    EXPECT_NE(second, first);
    EXPECT_EQ(second->description, description);
    (void)sample(description);
    description.compare = driver::Compare::less;
    (void)device_->make_sampler(description);
}

TEST_F(SamplersTest, WhatNoneIsIsRefused) {
    const auto refusal = [&](auto change) {
        driver::SamplerDescription description;
        change(description);
        return error_of([&] { (void)device_->make_sampler(description); });
    };
    EXPECT_EQ(refusal([](auto& d) { d.anisotropy = 0.5; }),
              "value-range: vulkan: a sampler's anisotropy is at least 1, not 0.500000");
    EXPECT_THAT(refusal([](auto& d) { d.anisotropy = 1e6; }), HasSubstr("missing-feature"));
    EXPECT_THAT(refusal([](auto& d) { d.lod_min = 1001; }), HasSubstr("value-range"));
    EXPECT_THAT(refusal([](auto& d) { d.lod_bias = 1e6; }), HasSubstr("missing-feature"));
    EXPECT_THAT(refusal([](auto& d) { d.border = {1, 0, 0, 1}; }), HasSubstr("value-range"));
    driver::SamplerDescription compares;
    compares.compare = driver::Compare::less;
    EXPECT_EQ(
        error_of([&] { (void)sample(compares); }),
        "type-mismatch: vulkan: kernel 'texture_sample' takes a sampler that doesn't compare for 'sampler', "
        "and is given one that does");
}

TEST_F(SamplersTest, ComparisonsAreOfTheSamplersKind) {
    using driver::Compare;
    manifest::Kernel made = sample_kernel("texture_compare");
    made.resources[1].is_comparison = true;
    const auto kernel = device_->load_kernel(made);
    constexpr float reference = 2;
    const auto holds = [&](Compare compare, double texel) {
        switch (compare) {
            case Compare::less: return reference < texel;
            case Compare::equal: return reference == texel;
            case Compare::less_equal: return reference <= texel;
            case Compare::greater: return reference > texel;
            case Compare::not_equal: return reference != texel;
            case Compare::greater_equal: return reference >= texel;
            case Compare::always: return true;
            default: return false;
        }
    };
    const auto image = make(two, TextureFormat::r32f, {7, 3, 1}, 2);
    const Floats texels{1, 2, 3, 2, 1, 3, 3, 2, 2, 1, 3, 3, 1, 2, 3, 1, 2, 2, 1, 3, 1};
    device_->upload_image(image, whole_mip(image->shape, 0), bytes_of(texels));
    constexpr std::uint32_t count = 57;
    const SampleBlock block{-0.5F, 0.4F, 2.F / (count - 1), reference, count};
    const auto target = device_->allocate(count * 16);
    for (int i = 1; i <= static_cast<int>(Compare::always); ++i) {
        for (const driver::Filter filter : {driver::Filter::linear, driver::Filter::nearest}) {
            driver::SamplerDescription description;
            description.compare = static_cast<Compare>(i);
            description.minify = description.magnify = filter;
            description.address = {driver::Address::repeat, driver::Address::clamp, driver::Address::clamp};
            run(*device_, kernel, {1, 1, 1}, block,
                {driver::ImageBinding{image, {0, 2, 0, 1, two, false}, nullptr},
                 driver::SamplerBinding{device_->make_sampler(description)}, range(target)});
            Floats found(std::size_t{count} * 4);
            device_->read_back(target, 0, std::as_writable_bytes(std::span(found)));
            const auto passed = [&](double x, double y) {
                const int column = (static_cast<int>(x) % 7 + 7) % 7;
                const int row = std::clamp(static_cast<int>(y), 0, 2);
                return holds(description.compare, texels[static_cast<std::size_t>(row * 7 + column)]) ? 1.0
                                                                                                      : 0.0;
            };
            for (std::size_t at = 0; at < count; ++at) {
                const double x = (block.x + block.step * static_cast<float>(at)) * 7;
                const double y = block.y * 3;
                double expected = passed(std::floor(x), std::floor(y));
                if (filter == driver::Filter::linear) {
                    const double left = std::floor(x - 0.5);
                    const double top = std::floor(y - 0.5);
                    const double right_part = x - 0.5 - left;
                    const double lower_part = y - 0.5 - top;
                    const auto row = [&](double of) {
                        return passed(left, of) * (1 - right_part) + passed(left + 1, of) * right_part;
                    };
                    expected = row(top) * (1 - lower_part) + row(top + 1) * lower_part;
                } else if (std::abs(x - std::round(x)) < 1e-4) {
                    continue;  // between two texels
                }
                EXPECT_NEAR(found[at * 4], expected, 1e-4) << "compare " << i << " at " << x;
            }
        }
    }
}

}  // namespace
}  // namespace kf::test
