// `kfgen inspect --extract`: which files it writes, and what manifest.json says of them.
#include "run/extraction.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/sha256.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;

manifest::Image image_of(const std::string& format, const std::string& architecture,
                         const std::string& code) {
    manifest::Image made;
    made.format = format;
    made.architecture = architecture;
    made.entry_point = "main";
    const auto view = std::as_bytes(std::span(code));
    made.bytes = std::vector<std::byte>(view.begin(), view.end());
    made.sha256 = sha256(made.bytes.span());
    return made;
}

TEST(Extraction, NamesFilesAfterKernels) {
    manifest::Manifest manifest;
    manifest.name = "m";
    manifest::Kernel kernel;
    kernel.name = "f.forward.strided";
    kernel.images = {image_of("spirv", "", "one"), image_of("cubin", "sm_90", "both"),
                     image_of("ptx", "sm_90", "text")};
    manifest.kernels.push_back(kernel);
    kernel.images = {image_of("spirv", "", "two"), image_of("cubin", "sm_90", "both")};
    manifest.kernels.push_back(kernel);
    kernel.name = "../a<b>/c";
    kernel.images = {image_of("spirv", "", "three")};
    manifest.kernels.push_back(kernel);
    const std::vector<OutputFile> files = extracted_files(manifest, "d");
    std::vector<std::string> names;
    for (const OutputFile& file : files) names.push_back(file.path.string());
    EXPECT_THAT(names, ElementsAre("d/f.forward.strided.spv", "d/f.forward.strided.sm_90.cubin",
                                   "d/f.forward.strided.sm_90.ptx", "d/f.forward.strided-2.spv",
                                   "d/_._a_b__c.spv", "d/manifest.json"));
    EXPECT_EQ(files[1].content, "both");
    const auto json = nlohmann::json::parse(files.back().content);
    EXPECT_EQ(json["kernels"][1]["images"][0]["file"], "f.forward.strided-2.spv");
    EXPECT_EQ(json["kernels"][1]["images"][1]["file"], "f.forward.strided.sm_90.cubin");
    EXPECT_EQ(json["kernels"][0]["images"][0]["sha256"], hex(manifest.kernels[0].images[0].sha256));
}

}  // namespace
}  // namespace kf::gen
