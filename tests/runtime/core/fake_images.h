// A driver in host memory that has textures: texels of each mip and layer, packed.
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/image_checks.h"
#include "runtime/core/fake_driver.h"

namespace kf::test {

struct FakeImage : driver::Image {
    /// Of mip m and layer l: number m * shape.layers + l.
    std::vector<std::vector<std::byte>> texels;
    driver::ForeignImage foreign;
};

struct FakeSampler : driver::Sampler {};

class FakeImages : public FakeDevice {
public:
    std::size_t samplers_made = 0;
    std::vector<driver::ImageRange> mips_generated;

    std::shared_ptr<driver::Image> make_image(const driver::ImageShape& shape) override {
        driver::check_image_shape(info(), shape);
        auto image = std::make_shared<FakeImage>();
        image->shape = shape;
        image->home = this;
        for (std::uint32_t mip = 0; mip < shape.mips; ++mip) {
            driver::ImageRegion all;
            all.mip = mip;
            all.extent = driver::mip_extent(shape, mip);
            for (std::uint32_t layer = 0; layer < shape.layers; ++layer)
                image->texels.emplace_back(driver::region_bytes(shape, all), std::byte{0xcd});
        }
        return image;
    }
    std::shared_ptr<driver::Image> wrap_image(driver::ForeignImage image) override {
        auto made = std::dynamic_pointer_cast<FakeImage>(make_image(image.shape));
        made->foreign = std::move(image);
        return made;
    }
    std::shared_ptr<driver::Sampler> make_sampler(const driver::SamplerDescription& description) override {
        ++samplers_made;
        auto made = std::make_shared<FakeSampler>();
        made->description = description;
        made->home = this;
        return made;
    }
    void upload_image(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                      std::span<const std::byte> texels) override {
        driver::check_region(info(), target.get(), region, texels.size(), "write");
        for_each_row(target, region, [&](std::byte* row, std::size_t size) {
            std::memcpy(row, texels.data(), size);
            texels = texels.subspan(size);
        });
    }
    void read_back_image(const std::shared_ptr<driver::Image>& source, const driver::ImageRegion& region,
                         std::span<std::byte> texels) override {
        driver::check_region(info(), source.get(), region, texels.size(), "read");
        for_each_row(source, region, [&](const std::byte* row, std::size_t size) {
            std::memcpy(texels.data(), row, size);
            texels = texels.subspan(size);
        });
    }
    void copy_to_image(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                       const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset) override {
        commands.push_back({"copy_to_image", {}, {}, {}, {}, {}});
        std::vector<std::byte> texels(driver::region_bytes(target->shape, region));
        read_back(source, offset, texels);
        upload_image(target, region, texels);
    }
    void copy_from_image(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                         const std::shared_ptr<driver::Image>& source,
                         const driver::ImageRegion& region) override {
        commands.push_back({"copy_from_image", {}, {}, {}, {}, {}});
        std::vector<std::byte> texels(driver::region_bytes(source->shape, region));
        read_back_image(source, region, texels);
        upload(target, offset, texels);
    }
    void generate_mips(const std::shared_ptr<driver::Image>&, const driver::ImageRange& range) override {
        mips_generated.push_back(range);
    }

private:
    /// Visits the region's rows as bytes, in the order that they are packed in.
    template <class Visit>
    static void for_each_row(const std::shared_ptr<driver::Image>& given, const driver::ImageRegion& region,
                             Visit visit) {
        auto& image = dynamic_cast<FakeImage&>(*given);
        const std::size_t texel = info_of(image.shape.format).size();
        const auto there = driver::mip_extent(image.shape, region.mip);
        for (std::uint32_t layer = 0; layer < region.layers; ++layer) {
            std::byte* first =
                image.texels.at(region.mip * image.shape.layers + region.first_layer + layer).data();
            for (std::uint32_t z = 0; z < region.extent[2]; ++z) {
                for (std::uint32_t y = 0; y < region.extent[1]; ++y) {
                    const std::size_t slice = region.offset[2] + z;
                    const std::size_t row = slice * there[1] + region.offset[1] + y;
                    visit(first + (row * there[0] + region.offset[0]) * texel, region.extent[0] * texel);
                }
            }
        }
    }
};

}  // namespace kf::test
