// What `kfgen inspect` prints, and what it refuses.
#include "run/inspection.h"

#include <gmock/gmock.h>

#include "core/artifact.h"
#include "core/block_records.h"
#include "core/interface.h"
#include "core/sha256.h"
#include "runtime/core/manifests.h"
#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

using testing::HasSubstr;

SharedBytes bytes(const std::string& text) {
    const auto view = std::as_bytes(std::span(text));
    return std::vector<std::byte>(view.begin(), view.end());
}

manifest::Image image(const std::string& format, const std::string& architecture,
                      const std::string& entry_point, const std::string& code) {
    manifest::Image result;
    result.format = format;
    result.architecture = architecture;
    result.entry_point = entry_point;
    result.bytes = bytes(code);
    result.sha256 = sha256(result.bytes.span());
    return result;
}

/// double y = f(float x): two kernels, SPIR-V each and one cubin for both.
manifest::Manifest sample() {
    manifest::Argument x;
    x.name = "x";
    x.kind = manifest::kinds::Tensor{};
    x.rank = x.call_rank = 1;
    x.map = {0};
    manifest::Argument y = x;
    y.name = "result";
    y.role = manifest::Role::result;
    y.element.scalar = ScalarType::float64;
    manifest::Call call;
    call.arguments = {x, y};
    kf::test::set_leaves(call);
    call.rank = 1;
    call.forward = {0, 1};

    manifest::Manifest manifest;
    manifest.name = "sample";
    manifest.producers = {{"kfgen", "0.1.0"}, {"nvrtc", "13.0"}, {"slang", "2026.12"}};
    manifest.functions = {{"f", "Doubles.", {call}}};
    const SharedBytes cubin = bytes("one cubin");
    for (const char* variant : {"contiguous", "strided"}) {
        manifest::Kernel kernel;
        kernel.name = std::string("f.forward.") + variant;
        kernel.variant =
            manifest.kernels.empty() ? manifest::Variant::contiguous : manifest::Variant::strided;
        kernel.group_size = {256, 1, 1};
        kernel.records = manifest::block_records(call, {manifest::PassKind::forward, kernel.variant});
        const bool strided = kernel.variant == manifest::Variant::strided;
        // The launch, the shape where it is strided, and two tensors' memory.
        const std::vector<std::int64_t> offsets =
            strided ? std::vector<std::int64_t>{0, 16, 24, 40} : std::vector<std::int64_t>{0, 16, 32};
        kernel.layouts = {{"cuda", {strided ? 56 : 40, offsets, manifest::Passing::value}},
                          {"vulkan", {strided ? 56 : 40, offsets, manifest::Passing::value}}};
        kernel.source_hash = std::string(64, 'a');
        const std::string interface = manifest::interface_of(call, kernel, false);
        kernel.images = {
            image("spirv", "", manifest::with_interface("main", interface), std::string("spirv ") + variant),
            image("cubin", "sm_90", manifest::with_interface(std::string("f_") + variant, interface),
                  "one cubin")};
        kernel.images[0].features = {"int64", "float64"};
        manifest.kernels.push_back(std::move(kernel));
    }
    return manifest;
}

std::string file_of(const manifest::Manifest& manifest) {
    const std::vector<std::byte> content = artifact::write(manifest);
    return {reinterpret_cast<const char*>(content.data()), content.size()};
}

Outcome<std::string> inspect(const std::string& content) {
    FakeFileSystem disk;
    disk.files["sample.kfa"] = content;
    const Outcome<manifest::Manifest> artifact = read_artifact("sample.kfa", disk);
    if (!artifact) return artifact.errors();
    return inspection(artifact.value());
}

std::string digest(const std::string& text) { return hex(sha256(bytes(text).span())); }

TEST(Inspection, PrintsAllOfAnArtifact) {
    const auto text = inspect(file_of(sample()));
    ASSERT_TRUE(text) << format_text(text.errors()[0]);
    const manifest::Manifest whole = sample();
    const auto entry = [&](std::size_t kernel, std::size_t image) {
        return whole.kernels[kernel].images[image].entry_point;
    };
    EXPECT_EQ(text.value(), "sample, ABI " + std::to_string(manifest::abi_version) +
                                "\n"
                                "made by kfgen 0.1.0\n"
                                "made by nvrtc 13.0\n"
                                "made by slang 2026.12\n"
                                "\n"
                                "f, 1 overload\n"
                                "  (x: tensor<float>[1]) -> tensor<double>[1], rank 1\n"
                                "    forward: kernels 0 (contiguous), 1 (strided)\n"
                                "\n"
                                "kernel 0: f.forward.contiguous\n"
                                "  group 256 x 1 x 1 threads, cuda block 40 bytes, vulkan block 40 bytes\n"
                                "  spirv                16 bytes  " +
                                digest("spirv contiguous") +
                                "\n"
                                "    entry point " +
                                entry(0, 0) +
                                ", needs int64, float64\n"
                                "  cubin sm_90           9 bytes  " +
                                digest("one cubin") +
                                ", shared by 2 kernels\n"
                                "    entry point " +
                                entry(0, 1) +
                                "\n"
                                "kernel 1: f.forward.strided\n"
                                "  group 256 x 1 x 1 threads, cuda block 56 bytes, vulkan block 56 bytes\n"
                                "  spirv                13 bytes  " +
                                digest("spirv strided") +
                                "\n"
                                "    entry point " +
                                entry(1, 0) +
                                ", needs int64, float64\n"
                                "  cubin sm_90           9 bytes  " +
                                digest("one cubin") +
                                ", shared by 2 kernels\n"
                                "    entry point " +
                                entry(1, 1) +
                                "\n"
                                "\n"
                                "1 function, 2 kernels, 3 images of 38 bytes\n");
}

TEST(Inspection, SaysHowBlocksArePassed) {
    manifest::Manifest manifest = sample();
    manifest.kernels[0].layouts["vulkan"].passing = manifest::Passing::address;
    manifest.kernels[1].layouts["vulkan"].passing = manifest::Passing::uniform;
    EXPECT_THAT(inspection(manifest), HasSubstr("vulkan block 40 bytes by address\n"));
    EXPECT_THAT(inspection(manifest), HasSubstr("vulkan block 56 bytes in a uniform buffer\n"));
}

TEST(Inspection, NamesResources) {
    manifest::Manifest manifest = sample();
    manifest.kernels[0].resources = {{"sums", manifest::ResourceKind::buffer, true, 4},
                                     {"albedo", manifest::ResourceKind::texture},
                                     {"image", manifest::ResourceKind::writable_texture, true}};
    manifest.kernels[0].resources.back().format = "rgba8";
    EXPECT_THAT(inspection(manifest), HasSubstr("vulkan block 40 bytes\n"
                                                "  takes a written buffer 'sums'\n"
                                                "  takes a texture 'albedo'\n"
                                                "  takes a writable texture 'image', rgba8\n"
                                                "  spirv "));
}

TEST(Inspection, PrintsTheBackwardPassWhereThereIsOne) {
    manifest::Manifest manifest = sample();
    manifest.functions[0].calls[0].backward.contiguous = 1;
    EXPECT_THAT(inspection(manifest), HasSubstr("    backward: kernel 1 (contiguous)\n"));
}

TEST(Inspection, RefusesAChangedFile) {
    const std::string good = file_of(sample());
    std::string changed = good;
    changed[changed.find("one cubin")] = 'O';
    for (const std::string& content :
         {changed, good.substr(0, good.size() / 2), std::string("{}"), std::string()}) {
        const auto refused = inspect(content);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.errors()[0].id, "artifact-corrupt");
        EXPECT_EQ(refused.errors()[0].location.file, "sample.kfa");
    }
}

TEST(Inspection, RefusesANewerFile) {
    manifest::Manifest newer = sample();
    newer.abi = manifest::abi_version + 1;
    const auto refused = inspect(file_of(newer));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.errors()[0].id, "artifact-version");
    EXPECT_THAT(refused.errors()[0].message, HasSubstr("newer kfgen"));
}

TEST(Inspection, SaysThatAFileIsMissing) {
    const auto refused = read_artifact("nowhere.kfa", FakeFileSystem());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.errors()[0].id, "artifact-missing");
    EXPECT_EQ(refused.errors()[0].location.file, "nowhere.kfa");
}

}  // namespace
}  // namespace kf::gen
