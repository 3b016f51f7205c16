// Texels between host, textures and tensors on every device: formats, dimensions, mips, layers, regions.
#include <kf/kf.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "testing.h"

namespace kf::test {
namespace {

using Bytes = std::vector<std::byte>;

/// Bytes that differ from texture to texture; of floats they are no NaN, which some hardware may change.
Bytes texels_of(const AnyTexture& texture, std::size_t seed) {
    Bytes bytes(texture.size_bytes());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>((i * 7 + seed * 31 + i / 256) % 0x3c);
    return bytes;
}

Bytes read(const AnyTexture& texture) {
    Bytes bytes(texture.size_bytes(), std::byte{0xcd});
    texture.read(bytes);
    return bytes;
}

TextureShape shape_of(const Dims& extents, TextureFormat format) {
    TextureShape shape;
    shape.dimensions = static_cast<int>(extents.size());
    shape.extents = extents;
    shape.format = format;
    return shape;
}

/// One of each dimension, with all mips, of odd extents.
std::vector<TextureShape> shapes(TextureFormat format) {
    std::vector<TextureShape> all;
    const auto add = [&](const Dims& extents, std::int64_t layers, bool is_cube = false) {
        TextureShape shape = shape_of(extents, format);
        shape.mips = 0;
        shape.is_cube = is_cube;
        shape.is_array = layers > (is_cube ? 6 : 1);
        shape.layers = layers;
        all.push_back(shape);
    };
    add({33}, 1);
    add({7}, 3);
    add({7, 33}, 1);
    add({1, 7}, 2);
    add({3, 7, 5}, 1);
    add({7, 7}, 6, true);
    add({3, 3}, 12, true);
    return all;
}

class TextureTransfersTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TextureTransfersTest);
INSTANTIATE_TEST_SUITE_P(Devices, TextureTransfersTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(TextureTransfersTest, KeepEveryMipAndLayerOfEveryFormat) {
    for (std::size_t f = 0; f < texture_formats.size(); ++f) {
        for (const TextureShape& shape : shapes(static_cast<TextureFormat>(f))) {
            SCOPED_TRACE(to_string(shape));
            const AnyTexture texture = AnyTexture::empty(device_, shape);
            for (unsigned m = 0; m < texture.shape().mips; ++m)
                texture.mip(m).write(texels_of(texture.mip(m), m));
            for (unsigned m = 0; m < texture.shape().mips; ++m)
                EXPECT_EQ(read(texture.mip(m)), texels_of(texture.mip(m), m)) << "mip " << m;
            if (shape.layers == 1) continue;
            const AnyTexture last = texture.mip(1).layer(-1);
            last.write(texels_of(last, 99));
            Bytes expected = texels_of(texture.mip(1), 1);
            const Bytes changed = texels_of(last, 99);
            std::copy(changed.begin(), changed.end(), expected.end() - std::ptrdiff_t(changed.size()));
            EXPECT_EQ(read(texture.mip(1)), expected);
            EXPECT_EQ(read(texture.mip(0)), texels_of(texture.mip(0), 0));
        }
    }
}

TEST_P(TextureTransfersTest, ReachBoxesOfAMip) {
    const auto image = RWTexture2D<int>::empty(device_, {5, 7}, {.mips = 2});
    const std::vector<int> zeros(35, 0);
    image.copy_from(zeros);
    image.mip(1).copy_from(std::vector<int>(6, -1));
    image.copy_region_from({1, 2}, {2, 3}, std::vector<int>{1, 2, 3, 4, 5, 6});
    std::vector<int> expected = zeros;
    for (std::size_t i = 0; i < 6; ++i) expected[(1 + i / 3) * 7 + 2 + i % 3] = static_cast<int>(i) + 1;
    EXPECT_EQ(image.to_vector(), expected);
    EXPECT_EQ(image.mip(1).to_vector(), std::vector<int>(6, -1));
    EXPECT_EQ(image.region_to_vector({1, 4}, {3, 2}), (std::vector<int>{3, 0, 6, 0, 0, 0}));
    image.mip(1).copy_region_from({1, 1}, {1, 2}, std::vector<int>{8, 9});
    EXPECT_EQ(image.mip(1).to_vector(), (std::vector<int>{-1, -1, -1, -1, 8, 9}));
    const auto volume = RWTexture3D<int>::empty(device_, {3, 2, 4});
    volume.copy_from(std::vector<int>(24, 0));
    volume.copy_region_from({1, 1, 1}, {2, 1, 2}, std::vector<int>{1, 2, 3, 4});
    EXPECT_EQ(volume.region_to_vector({1, 0, 0}, {1, 2, 4}), (std::vector<int>{0, 0, 0, 0, 0, 1, 2, 0}));
    EXPECT_EQ(volume.region_to_vector({2, 1, 0}, {1, 1, 4}), (std::vector<int>{0, 3, 4, 0}));
    const auto array = RWTexture2DArray<int>::empty(device_, {2, 2}, {.layers = 3});
    array.copy_from(std::vector<int>(12, 0));
    array.layers(1, 2).copy_region_from({0, 1}, {2, 1}, std::vector<int>{1, 2, 3, 4});
    EXPECT_EQ(array.to_vector(), (std::vector<int>{0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4}));
}

TEST_P(TextureTransfersTest, BecomeTensorsAndComeFromThem) {
    for (const TextureFormat format :
         {TextureFormat::r8, TextureFormat::rg16_snorm, TextureFormat::rgba8_srgb, TextureFormat::rgba16f,
          TextureFormat::rgba32ui}) {
        for (const TextureShape& shape : shapes(format)) {
            SCOPED_TRACE(to_string(shape));
            const AnyTexture texture = AnyTexture::empty(device_, shape).mip(1);
            const AnyTexture other = AnyTexture::empty(device_, shape).mip(1);
            texture.write(texels_of(texture, 5));
            const AnyTensor tensor = texture.to_tensor();
            Bytes bytes(texture.size_bytes());
            tensor.read(bytes);
            EXPECT_EQ(bytes, texels_of(texture, 5));
            other.copy_from(tensor);
            EXPECT_EQ(read(other), texels_of(texture, 5));
        }
    }
    // A tensor that begins anywhere.
    std::vector<float> numbers(41);
    std::iota(numbers.begin(), numbers.end(), 0.F);
    const Tensor<float, 1> all = device_.tensor<float>(numbers);
    const auto image = RWTexture2D<float4>::empty(device_, {2, 5});
    image.copy_from(all.slice(0, 1, 41).reshape({2, 5, 4}));
    EXPECT_EQ(image.to_vector()[9], (float4{37, 38, 39, 40}));
    const Tensor<float, 1> into = device_.zeros<float>({42});
    image.copy_to(into.slice(0, 1, 41).reshape({2, 5, 4}));
    std::vector<float> expected(numbers);
    expected.push_back(0);
    EXPECT_EQ(into.to_vector(), expected);
}

/// The linear sample of a line of texels at the middle of each of the next mip's.
std::vector<double> halved(const std::vector<double>& line) {
    std::vector<double> half(std::max<std::size_t>(1, line.size() / 2));
    for (std::size_t i = 0; i < half.size(); ++i) {
        const double at = (double(i) + 0.5) * double(line.size()) / double(half.size()) - 0.5;
        const auto low = static_cast<std::size_t>(std::max(at, 0.));
        const std::size_t high = std::min(low + 1, line.size() - 1);
        const double weight = std::max(at, 0.) - double(low);
        half[i] = line[low] * (1 - weight) + line[high] * weight;
    }
    return half;
}

TEST_P(TextureTransfersTest, HaveMipsGenerated) {
    for (const std::int64_t width : {1, 7, 32, 33, 257}) {
        SCOPED_TRACE(width);
        const auto line = RWTexture1DArray<float>::empty(device_, {width}, {.mips = 0, .layers = 2});
        std::vector<float> texels(static_cast<std::size_t>(2 * width));
        for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = float(i * i % 17);
        line.copy_from(texels);
        line.generate_mips();
        EXPECT_EQ(line.to_vector(), texels);
        std::vector<double> expected(texels.end() - width, texels.end());
        for (std::int64_t m = 1; m < line.mips(); ++m) {
            expected = halved(expected);
            const std::vector<float> found = line.mip(m).layer(1).to_vector();
            ASSERT_EQ(found.size(), expected.size());
            // Hardware's weights have 8 bits.
            for (std::size_t i = 0; i < found.size(); ++i)
                EXPECT_NEAR(found[i], expected[i], 17. / 128 * double(m)) << "mip " << m << ", texel " << i;
        }
    }
    const auto image =
        RWTexture2D<float4>::empty(device_, {4, 8}, {.format = TextureFormat::rgba8, .mips = 3});
    image.copy_from(std::vector<uint8_t4>(32, {10, 20, 30, 40}));
    image.mip(2).copy_from(std::vector<uint8_t4>(2, {1, 1, 1, 1}));
    image.mips(0, 2).generate_mips();
    EXPECT_EQ(image.mip(1).to_vector<uint8_t4>(), std::vector<uint8_t4>(8, {10, 20, 30, 40}));
    EXPECT_EQ(image.mip(2).to_vector<uint8_t4>(), std::vector<uint8_t4>(2, {1, 1, 1, 1}))
        << "not in the view";
    const auto volume = RWTexture3D<float>::empty(device_, {2, 2, 2}, {.mips = 2});
    volume.copy_from(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
    volume.generate_mips();
    EXPECT_NEAR(volume.mip(1).to_vector()[0], 3.5, 0.05);
}

}  // namespace
}  // namespace kf::test
