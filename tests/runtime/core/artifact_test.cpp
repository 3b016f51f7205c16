// Artifacts: round trips, refusals, and damage of every kind.
#include "core/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include <kf/error.h>

#include "core/checked_image.h"
#include "core/enum_values.h"
#include "core/items.h"
#include "core/sha256.h"
#include "runtime/core/manifests.h"

namespace {

using namespace kf;
using namespace kf::test;
using testing::HasSubstr;

Manifest small() {
    ManifestBuilder builder;
    builder.add("negate", {tensor("x", 1), as(Role::result, tensor("result", 1))}, false);
    return builder.get();
}

Manifest with_digests(Manifest manifest) {
    for (Kernel& kernel : manifest.kernels) {
        for (Image& image : kernel.images) {
            image.sha256 = sha256(image.bytes.span());
        }
    }
    return manifest;
}

ErrorCode code_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const ArtifactError& error) {
        return error.code();
    }
    ADD_FAILURE() << "no ArtifactError";
    return ErrorCode::driver_failure;
}

TEST(Artifact, RoundTrips) {
    Manifest manifest = with_digests(polynomial());
    EXPECT_EQ(artifact::read(artifact::write(manifest)), manifest);
    manifest.functions[0].calls[0].arguments[0].type = "float[4]";
    manifest.functions[0].calls[0].arguments[0].members = {{"low", -7}, {"high", 1LL << 40}};
    manifest.functions[0].calls[0].arguments[0].flags = true;
    manifest.functions[0].calls[0].arguments[0].address = true;
    manifest.functions[0].calls[0].enum_values = detail::enum_values(manifest.functions[0].calls[0]);
    manifest.kernels.front().exact = true;
    EXPECT_EQ(artifact::read(artifact::write(manifest)), manifest);
}

TEST(Artifact, IsAFunctionOfTheManifest) {
    EXPECT_EQ(artifact::write(polynomial()), artifact::write(polynomial()));
    Manifest other = polynomial();
    other.functions[0].doc += "!";
    EXPECT_NE(artifact::write(polynomial()), artifact::write(other));
}

TEST(Artifact, RefusesEveryTruncation) {
    const std::vector<std::byte> bytes = artifact::write(small());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_EQ(code_of([&] { (void)artifact::read(std::span(bytes).first(size)); }),
                  ErrorCode::artifact_corrupt)
            << size;
    }
}

TEST(Artifact, RefusesEveryChangedByte) {
    const Manifest manifest = with_digests(small());
    const std::vector<std::byte> bytes = artifact::write(manifest);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const int mask : {0x01, 0x20, 0x80, 0xff}) {
            std::vector<std::byte> changed = bytes;
            changed[at] ^= static_cast<std::byte>(mask);
            EXPECT_THROW((void)artifact::read(changed), ArtifactError) << at;
        }
    }
}

TEST(Artifact, RefusesTrailingBytes) {
    std::vector<std::byte> bytes = artifact::write(small());
    bytes.push_back(std::byte{0});
    EXPECT_EQ(code_of([&] { (void)artifact::read(bytes); }), ErrorCode::artifact_corrupt);
}

TEST(Artifact, RefusesDeepNesting) {
    const std::vector<std::byte> bytes(2'000'000, std::byte{0x81});  // [[[[…
    EXPECT_EQ(code_of([&] { (void)artifact::read(bytes); }), ErrorCode::artifact_corrupt);
}

TEST(Artifact, TakesNoMemoryOnANumbersWord) {
    // Arrays in arrays, each of which claims as many items as bytes follow: 5 GiB of them.
    std::vector<std::byte> bytes;
    for (int depth = 0; depth < 39; ++depth) {
        for (const int byte : {0x9a, 0, 0x40, 0, 0}) bytes.push_back(static_cast<std::byte>(byte));
    }
    bytes.resize(bytes.size() + (std::size_t{0x40} << 16U));
    EXPECT_EQ(code_of([&] { (void)artifact::read(bytes); }), ErrorCode::artifact_corrupt);
}

TEST(Artifact, SaysWhatToDoAboutANewerVersion) {
    Manifest manifest = small();
    manifest.abi = abi_version + 1;
    try {
        (void)artifact::read(artifact::write(manifest));
        FAIL();
    } catch (const ArtifactError& error) {
        EXPECT_EQ(error.code(), ErrorCode::artifact_version);
        EXPECT_THAT(error.what(), HasSubstr("ABI version " + std::to_string(abi_version + 1)));
        EXPECT_THAT(error.what(), HasSubstr("update the runtime"));
    }
}

TEST(Artifact, ReportsAMissingFile) {
    EXPECT_EQ(code_of([] { (void)artifact::read_file("/nonexistent/x.kfa"); }), ErrorCode::artifact_missing);
    EXPECT_EQ(code_of([] { (void)artifact::read_file("/"); }), ErrorCode::artifact_missing);
}

// ---- Images that are checked when they are first needed ----

/// Where the image's bytes lie in the artifact.
std::size_t place_of(const SharedBytes& artifact, const Image& image) {
    return static_cast<std::size_t>(image.bytes.data() - artifact.data());
}

TEST(LazyArtifact, ReadsTheSame) {
    const SharedBytes bytes(artifact::write(with_digests(polynomial())));
    Manifest lazy = artifact::read_lazily(bytes);
    for (Kernel& kernel : lazy.kernels) {
        for (Image& image : kernel.images) {
            EXPECT_FALSE(image.is_checked);
            EXPECT_LT(place_of(bytes, image), bytes.size());
            EXPECT_EQ(checked_bytes(image, kernel.name), image.bytes);
            image.is_checked = true;
        }
    }
    EXPECT_EQ(lazy, artifact::read(bytes.span()));
}

TEST(LazyArtifact, ChecksAllButTheImagesWhenItIsRead) {
    const SharedBytes whole(artifact::write(with_digests(small())));
    int in_images = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::vector<std::byte> changed = whole.copy();
        changed[at] ^= std::byte{0x20};
        Manifest read;
        try {
            read = artifact::read_lazily(changed);
        } catch (const ArtifactError&) {
            continue;
        }
        // What was let pass lies in an image, which is refused before it is used, by its kernel's name.
        int refused = 0;
        for (const Kernel& kernel : read.kernels) {
            for (const Image& image : kernel.images) {
                try {
                    (void)checked_bytes(image, kernel.name);
                } catch (const ArtifactError& error) {
                    ++refused;
                    EXPECT_EQ(error.code(), ErrorCode::artifact_corrupt);
                    EXPECT_THAT(error.what(), HasSubstr("image of kernel '" + kernel.name +
                                                        "' isn't what its SHA-256 says"));
                }
            }
        }
        EXPECT_GT(refused, 0) << at;
        ++in_images;
    }
    EXPECT_GT(in_images, 0);
}

TEST(LazyArtifact, ReadsSmallFilesWhole) {
    const std::vector<std::byte> bytes = artifact::write(with_digests(small()));
    const std::string path = testing::TempDir() + "kf_whole_" + std::to_string(::getpid()) + ".kfa";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const SharedBytes whole = artifact::map_file(path);
    const Manifest manifest = artifact::read_lazily(whole);
    std::filesystem::resize_file(path, 10);
    const Image& image = manifest.kernels.front().images.front();
    const SharedBytes kept = checked_bytes(image, "negate");
    const std::size_t at = place_of(whole, image);
    EXPECT_TRUE(std::ranges::equal(kept.span(), std::span(bytes).subspan(at, kept.size())));
    std::filesystem::remove(path);
}

TEST(LazyArtifact, FindsAFileThatChangedAfterItWasMapped) {
    Manifest large = small();
    large.kernels.front().images.front().bytes = std::vector<std::byte>(17U << 20U, std::byte{3});
    const std::vector<std::byte> bytes = artifact::write(with_digests(std::move(large)));
    const std::string path = testing::TempDir() + "kf_lazy_" + std::to_string(::getpid()) + ".kfa";
    const auto put = [&](std::size_t at, std::byte byte) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(byte));
    };
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const SharedBytes mapped = artifact::map_file(path);
    const Manifest manifest = artifact::read_lazily(mapped);
    const Image& image = manifest.kernels.front().images.front();
    const std::size_t at = place_of(mapped, image);
    const SharedBytes kept = checked_bytes(image, "negate");
    put(at, bytes[at] ^ std::byte{1});
    EXPECT_EQ(code_of([&] { (void)checked_bytes(image, "negate"); }), ErrorCode::artifact_corrupt);
    EXPECT_TRUE(std::ranges::equal(kept.span(), std::span(bytes).subspan(at, kept.size())));
    put(at, bytes[at]);
    EXPECT_EQ(checked_bytes(image, "negate"), kept);
    std::filesystem::remove(path);
    EXPECT_EQ(checked_bytes(image, "negate"), kept);  // the mapping keeps what was there
}

TEST(Artifact, RefusesKeysOutOfOrderAndLengthsBeyondTheEnd) {
    const auto refused = [](std::initializer_list<int> document) {
        std::vector<std::byte> bytes;
        for (const int byte : document) bytes.push_back(static_cast<std::byte>(byte));
        return code_of([&] { (void)artifact::read(bytes); }) == ErrorCode::artifact_corrupt;
    };
    EXPECT_TRUE(refused({0xa2, 0x61, 'b', 0x01, 0x61, 'a', 0x01}));  // {"b": 1, "a": 1}
    EXPECT_TRUE(refused({0xa2, 0x61, 'a', 0x01, 0x61, 'a', 0x01}));  // one key twice
    EXPECT_TRUE(refused({0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
    EXPECT_TRUE(refused({0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
    EXPECT_TRUE(refused({0x9f, 0x01, 0xff}));  // of no stated length
    EXPECT_TRUE(refused({0xc0, 0x60}));        // a tag
    EXPECT_TRUE(refused({0x1c}));
}

// ---- A body whose digest is right, but which makes no sense ----

std::vector<std::byte> with_body(const std::function<void(nlohmann::json&)>& edit) {
    using nlohmann::json;
    const std::vector<std::byte> bytes = artifact::write(small());
    json document = json::from_cbor(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    reinterpret_cast<const std::uint8_t*>(bytes.data()) + bytes.size());
    json body = json::from_cbor(document["body"].get_binary());
    edit(body);
    const std::vector<std::uint8_t> changed = json::to_cbor(body);
    const auto digest = sha256(std::as_bytes(std::span(changed)));
    document["body"] = json::binary(changed);
    document["sha256"] = json::binary({digest.begin(), digest.end()});
    const std::vector<std::uint8_t> result = json::to_cbor(document);
    const auto view = std::as_bytes(std::span(result));
    return {view.begin(), view.end()};
}

TEST(Artifact, BytesThatImagesShareAreKeptOnce) {
    Manifest manifest = polynomial();
    manifest.kernels[0].images[0].bytes = std::vector<std::byte>(5000, std::byte{7});
    const std::size_t alone = artifact::write(manifest).size();
    manifest.kernels[1].images[0].bytes = manifest.kernels[0].images[0].bytes;
    const std::vector<std::byte> bytes = artifact::write(manifest);
    EXPECT_LT(bytes.size(), alone);
    const Manifest read = artifact::read(bytes);
    EXPECT_EQ(read.kernels[1].images[0].bytes.data(), read.kernels[0].images[0].bytes.data());
    EXPECT_EQ(read.kernels[0].images[0].bytes, manifest.kernels[0].images[0].bytes);
}

TEST(Artifact, RefusesMissingKeysAndWrongTypes) {
    EXPECT_NO_THROW((void)artifact::read(with_body([](auto&) {})));
    int number = 0;
    for (const std::function<void(nlohmann::json&)>& edit : std::vector<std::function<void(nlohmann::json&)>>{
             [](auto& b) { b.erase("kernels"); }, [](auto& b) { b["functions"] = 3; },
             [](auto& b) { b["functions"][0]["calls"][0]["rank"] = "one"; },
             [](auto& b) { b["functions"][0]["calls"][0]["rank"] = 1.5; },
             [](auto& b) { b["functions"][0]["calls"][0]["rank"] = 0xffffffffffffffffULL; },
             [](auto& b) { b["functions"][0]["calls"][0]["arguments"][0]["role"] = "sideways"; },
             [](auto& b) { b["functions"][0]["calls"][0]["forward"] = nlohmann::json::array({0}); },
             [](auto& b) {
                 b["blobs"][0]["sha256"] = nlohmann::json::binary({1, 2});
             },
             [](auto& b) { b["blobs"][0]["size"] = "text"; }, [](auto& b) { b["blobs"][0]["size"] = 1; },
             [](auto& b) { b["blobs"][0]["size"] = -1; }, [](auto& b) { b["blobs"][0]["size"] = 1 << 30; },
             [](auto& b) { b["blobs"].push_back(b["blobs"][0]); },
             [](auto& b) { b["kernels"][0]["images"][0]["blob"] = 99; },
             [](auto& b) { b["kernels"][0]["images"][0]["blob"] = -1; },
             [](auto& b) { b["kernels"][0]["resources"] = nlohmann::json::array({"table"}); },
             [](auto& b) { b["kernels"][0]["layouts"]["fake"]["resource_places"] = 8; },
             [](auto& b) { b["kernels"][0]["group_size"][0] = 0; },
             [](auto& b) { b["kernels"][0]["records"][0] = nlohmann::json::array({"launch"}); }}) {
        EXPECT_EQ(code_of([&] { (void)artifact::read(with_body(edit)); }), ErrorCode::artifact_corrupt)
            << number;
        ++number;
    }
}

TEST(Artifact, RefusesTextsThatAreNotUtf8) {
    const auto named = [](const std::string& name) {
        std::vector<std::byte> bytes = artifact::write(small());
        using nlohmann::json;
        json document = json::from_cbor(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                        reinterpret_cast<const std::uint8_t*>(bytes.data()) + bytes.size());
        std::vector<std::uint8_t> body = document["body"].get_binary();
        const std::string known = "negate";
        // Each time: texts that are names of one thing have to agree.
        for (auto at = body.begin();; at += static_cast<std::ptrdiff_t>(known.size())) {
            at = std::search(at, body.end(), known.begin(), known.end());
            if (at == body.end()) break;
            std::copy(name.begin(), name.end(), at);
        }
        const auto digest = sha256(std::as_bytes(std::span(body)));
        document["body"] = json::binary(body);
        document["sha256"] = json::binary({digest.begin(), digest.end()});
        const std::vector<std::uint8_t> result = json::to_cbor(document);
        return artifact::read(std::as_bytes(std::span(result))).functions.front().name;
    };
    for (const std::string good : {"nagate",
                                   "n\xC3\xA4"
                                   "ate",
                                   "n\xE2\x82\xAC"
                                   "te",
                                   "\xF0\x9F\x98\x80"
                                   "te"})
        EXPECT_EQ(named(good), good);
    for (const std::string bad : {"n\xFFgate", "n\x80gate", "negat\xC3",
                                  "n\xC0\xAF"
                                  "ate",
                                  "n\xC3(ate",
                                  "n\xE0\x80\xAF"
                                  "te",
                                  "n\xED\xA0\x80"
                                  "te",
                                  "\xF0\x80\x80\x80"
                                  "te",
                                  "\xF4\x90\x80\x80"
                                  "te",
                                  "\xF5\x80\x80\x80"
                                  "te"})
        EXPECT_EQ(code_of([&] { (void)named(bad); }), ErrorCode::artifact_corrupt);
}

/// dot(rays), of a tensor of structs {float3 pos; float t;}.
Manifest of_structs_with(Role role) {
    const auto field = [&](const char* name, std::int64_t offset, std::vector<std::int64_t> extents) {
        Argument argument = as(role, tensor(name, 1, ScalarType::float32, std::move(extents)));
        argument.offset = offset;
        argument.pitch = 4;
        return argument;
    };
    ManifestBuilder builder;
    builder.add("dot",
                {field("rays.pos", 0, {3}), field("rays.t", 12, {}), as(Role::result, tensor("result", 1))},
                false);
    Call& call = builder.get().functions[0].calls[0];
    call.parameters = {
        {"rays",
         Form::tensor,
         "Ray",
         0,
         2,
         16,
         0,
         {},
         {{"pos", Form::leaf, "", 0, 1, 0, 0, {}, {}}, {"t", Form::leaf, "", 1, 1, 0, 12, {}, {}}}},
        {"result", Form::leaf, "", 2, 1, 0, 0, {}, {}}};
    call.items = items_of(call.parameters);
    return builder.get();
}
Manifest of_structs() { return of_structs_with(Role::in); }
Manifest of_written_structs() { return of_structs_with(Role::inout); }

/// Adds the kernels of a call's deterministic backward pass.
void add_deterministic(Manifest& manifest, Call& call) {
    const auto add = [&](std::int64_t like, Variant variant) {
        Kernel kernel = manifest.kernels[static_cast<std::size_t>(like)];
        kernel.exact = true;
        set_records(kernel, call, {PassKind::backward, variant, true});
        manifest.kernels.push_back(kernel);
        return static_cast<std::int64_t>(manifest.kernels.size()) - 1;
    };
    call.deterministic = {add(call.backward.contiguous, Variant::contiguous),
                          add(call.backward.strided, Variant::strided)};
}

/// scale(x), whose gradients are of halves and have sums in memory of their own, exact or not.
Manifest of_halves() {
    ManifestBuilder builder;
    builder.add("scale", {with_gradient(tensor("x", 1, ScalarType::float16)),
                          as(Role::result, tensor("result", 1, ScalarType::float16))});
    add_deterministic(builder.get(), builder.get().functions[0].calls[0]);
    return builder.get();
}

/// negate(table, words, x), whose kernels take two buffers.
Manifest of_resources() {
    ManifestBuilder builder;
    builder.add("negate",
                {buffer("table", Access::read_write, ScalarType::float32, {3}),
                 buffer("words", Access::read, ScalarType::uint8), tensor("x", 1),
                 as(Role::result, tensor("result", 1))},
                false);
    Manifest& manifest = builder.get();
    Kernel& kernel = manifest.kernels[0];
    BlockLayout& layout = kernel.layouts["vulkan"] = kernel.layouts["fake"];
    layout.size = layout.resource_places.front();
    layout.resource_places = {0, 1};
    return manifest;
}

/// shade(albedo, target, s, shadow, mask, x), whose kernels take four textures and samplers, and two beside.
Manifest of_textures() {
    Argument lookup = texture("lookup");
    std::get<kinds::Texture>(lookup.kind).is_combined = true;
    ManifestBuilder builder;
    builder.add("shade",
                {texture("albedo"), texture("target", "rgba8"), sampler("s"), sampler("shadow", true), lookup,
                 texels("mask"), tensor("x", 2)},
                false);
    return builder.get();
}

TEST(Artifact, RoundTripsTextures) {
    const Manifest manifest = with_digests(of_textures());
    EXPECT_EQ(artifact::read(artifact::write(manifest)), manifest);
    const std::vector<ResourceSlot>& slots = manifest.kernels[0].resources;
    ASSERT_EQ(slots.size(), 6U);
    EXPECT_EQ(slots[0].samplers, 2);
    EXPECT_EQ(handle_bytes(slots[0]), 40);
    EXPECT_EQ(handle_bytes(slots[1]), 32);
    EXPECT_EQ(handle_bytes(slots[2]), 8);
    EXPECT_EQ(slots[4].kind, ResourceKind::combined_texture);
    EXPECT_EQ(handle_bytes(slots[4]), 32);
    // What the code relies on is part of its name.
    Manifest other = of_textures();
    std::get<kinds::Texture>(other.functions[0].calls[0].arguments[1].kind).format = "rgba16f";
    set_records(other.kernels[0], other.functions[0].calls[0], {PassKind::forward, Variant::contiguous});
    EXPECT_NE(other.kernels[0].images[0].entry_point, manifest.kernels[0].images[0].entry_point);
}

TEST(Artifact, RoundTripsResources) {
    const Manifest manifest = with_digests(of_resources());
    EXPECT_EQ(artifact::read(artifact::write(manifest)), manifest);
    EXPECT_NE(manifest.kernels[0].images[0].entry_point, small().kernels[0].images[0].entry_point)
        << "code is generated for the resources that it takes";
}

struct Inconsistency {
    const char* name;
    std::function<void(Manifest&)> edit;
    Manifest (*make)() = polynomial;
};

kinds::Texture& texture_of(Manifest& manifest, std::size_t i) {
    return std::get<kinds::Texture>(manifest.functions[0].calls[0].arguments[i].kind);
}

class Inconsistent : public testing::TestWithParam<Inconsistency> {};

TEST_P(Inconsistent, IsRefused) {
    Manifest manifest = with_digests(GetParam().make());
    ASSERT_NO_THROW(artifact::check(manifest));
    GetParam().edit(manifest);
    EXPECT_EQ(code_of([&] { artifact::check(manifest); }), ErrorCode::artifact_corrupt);
}

TEST(Artifact, RefusesAValueWhosePartsCallsWrite) {
    Argument result = as(Role::result, value("result", ScalarType::float32, {3}));
    result.accumulate = Accumulate::sum;
    ManifestBuilder whole;
    whole.add("sum", {tensor("x", 1), result}, false);
    EXPECT_NO_THROW(artifact::check(with_digests(whole.get())));
    // Nothing says that there are three calls.
    result.call_rank = 1;
    result.trailing.clear();
    ManifestBuilder parts;
    parts.add("sum", {tensor("x", 1), result}, false);
    EXPECT_EQ(code_of([&] { artifact::check(with_digests(parts.get())); }), ErrorCode::artifact_corrupt);
}

Call& call(Manifest& m) { return m.functions[0].calls[0]; }
Argument& argument(Manifest& m, std::size_t i) { return call(m).arguments[i]; }

INSTANTIATE_TEST_SUITE_P(
    Manifest, Inconsistent,
    testing::
        Values(
            Inconsistency{"KernelIndex", [](Manifest& m) { call(m).forward.contiguous = 4; }},
            Inconsistency{"NegativeKernelIndex", [](Manifest& m) { call(m).forward.strided = -2; }},
            Inconsistency{"NoForward", [](Manifest& m) { call(m).forward = {}; }},
            Inconsistency{"NoBackward", [](Manifest& m) { call(m).backward = {}; }},
            Inconsistency{
                "WrongVariant",
                [](Manifest& m) { std::swap(call(m).forward.contiguous, call(m).forward.strided); }},
            Inconsistency{"TangentOfNothing", [](Manifest& m) { argument(m, 1).tangent_of = 5; }},
            Inconsistency{"NegativeTangent", [](Manifest& m) { argument(m, 1).tangent_of = -2; }},
            Inconsistency{"TangentOfItself", [](Manifest& m) { argument(m, 1).tangent_of = 1; }},
            Inconsistency{"TangentOfATangent",
                          [](Manifest& m) { argument(m, 1).tangent_of = 0, argument(m, 2).tangent_of = 1; }},
            Inconsistency{"TangentOfAnotherKind", [](Manifest& m) { argument(m, 1).tangent_of = 3; }},
            Inconsistency{"ReturnedTangent", [](Manifest& m) { argument(m, 4).tangent_of = 3; }},
            Inconsistency{"Jvp", [](Manifest& m) { m.functions[0].jvp = 1; }},
            Inconsistency{"JvpWithoutTangents", [](Manifest& m) { m.functions[0].jvp = 0; }},
            Inconsistency{"JvpOfItself",
                          [](Manifest& m) { argument(m, 1).tangent_of = 0, m.functions[0].jvp = 0; }},
            Inconsistency{"CallRank", [](Manifest& m) { call(m).rank = 99; }},
            Inconsistency{"ArgumentRank", [](Manifest& m) { argument(m, 3).rank = -1; }},
            Inconsistency{"Map", [](Manifest& m) { argument(m, 3).map = {1}; }},
            Inconsistency{"MapLength", [](Manifest& m) { argument(m, 3).map = {}; }},
            Inconsistency{"Trailing", [](Manifest& m) { argument(m, 3).trailing = {3}; }},
            Inconsistency{"TrailingNotTheElements",
                          [](Manifest& m) {
                              argument(m, 0).element.extents = {3};
                              argument(m, 0).trailing = {4};
                          }},
            Inconsistency{"HugeElement",
                          [](Manifest& m) {
                              argument(m, 0).element.extents = argument(m, 0).trailing = {4096, 4096};
                          }},
            Inconsistency{"OutputRank",
                          [](Manifest& m) {
                              argument(m, 4).rank = argument(m, 4).call_rank = 0;
                              argument(m, 4).map = {};
                          }},
            Inconsistency{"ValueOutput", [](Manifest& m) { argument(m, 0).role = Role::out; }},
            Inconsistency{"IntegerGradient",
                          [](Manifest& m) { argument(m, 0).element.scalar = ScalarType::int32; }},
            Inconsistency{"RecordOfAnArgumentThatIsNotThere",
                          [](Manifest& m) { m.kernels[0].records[1].argument = 5; }},
            Inconsistency{"RecordOfAnotherDimension",
                          [](Manifest& m) { m.kernels[1].records[1].dimensions = {1}; }},
            Inconsistency{"RecordOfMoreDimensions", [](Manifest& m) { m.kernels[1].records[2].trailing = 1; }},
            Inconsistency{"DataWithoutAStep", [](Manifest& m) { m.kernels[0].records[1].flagged = false; }},
            Inconsistency{"ValueOfATensor", [](Manifest& m) { m.kernels[0].records[3].argument = 3; }},
            Inconsistency{"DataOfAValue",
                          [](Manifest& m) { m.kernels[0].records[3].kind = RecordKind::data; }},
            Inconsistency{"WholeTensorWithoutARank",
                          [](Manifest& m) { argument(m, 3).kind = kinds::WholeTensor{}; }},
            Inconsistency{"InMemoryValue", [](Manifest& m) { argument(m, 0).kind = kinds::Value{true}; }},
            Inconsistency{"LaunchAsCounter",
                          [](Manifest& m) { m.kernels[0].records[0].kind = RecordKind::counter; }},
            Inconsistency{"RecordsInAnotherOrder",
                          [](Manifest& m) { std::swap(m.kernels[0].records[3], m.kernels[0].records[4]); }},
            Inconsistency{"OffsetsInAnotherOrder",
                          [](Manifest& m) {
                              auto& offsets = m.kernels[0].layouts["fake"].offsets;
                              std::swap(offsets[2], offsets[3]);
                          }},
            Inconsistency{"AGapBetweenRecords",
                          [](Manifest& m) { m.kernels[0].layouts["fake"].offsets.back() += 8; }},
            Inconsistency{"AnotherPassesKernel",
                          [](Manifest& m) { call(m).forward.contiguous = call(m).backward.contiguous; }},
            Inconsistency{"Passing",
                          [](Manifest& m) { m.kernels[0].layouts["fake"].passing = Passing::address; }},
            Inconsistency{"ElementsOfAnotherType",
                          [](Manifest& m) {
                              argument(m, 3).element.scalar = argument(m, 4).element.scalar =
                                  ScalarType::float64;
                          }},
            Inconsistency{
                "ElementsOfAnotherSize",
                [](Manifest& m) { argument(m, 3).element.extents = argument(m, 3).trailing = {3}; }},
            Inconsistency{"PushedGradient",
                          [](Manifest& m) { argument(m, 3).accumulate = Accumulate::push; }},
            Inconsistency{"GroupSizeOfOtherCode", [](Manifest& m) { m.kernels[0].group_size[0] = 32; }},
            Inconsistency{"PlaceInNoStruct", [](Manifest& m) { argument(m, 3).offset = 4; }},
            Inconsistency{"RecordOutsideTheBlock",
                          [](Manifest& m) {
                              m.kernels[0].layouts["fake"].offsets[0] = m.kernels[0].layouts["fake"].size - 4;
                          }},
            Inconsistency{"NegativeOffset",
                          [](Manifest& m) { m.kernels[0].layouts["fake"].offsets[0] = -8; }},
            Inconsistency{"OverlappingRecords",
                          [](Manifest& m) { m.kernels[0].layouts["fake"].offsets[1] = 4; }},
            Inconsistency{"FewerOffsets",
                          [](Manifest& m) { m.kernels[0].layouts["fake"].offsets.pop_back(); }},
            Inconsistency{"BlockSize", [](Manifest& m) { m.kernels[0].layouts["fake"].size = 1 << 20; }},
            Inconsistency{
                "GroupSize",
                [](Manifest& m) {
                    m.kernels[0].group_size = {1024, 1024, 1};
                }},
            Inconsistency{"NoImage", [](Manifest& m) { m.kernels[0].images.clear(); }},
            Inconsistency{"ImageDigest", [](Manifest& m) { m.kernels[0].images[0].sha256[0] ^= 1; }},
            Inconsistency{"TwoFunctionsOfOneName",
                          [](Manifest& m) { m.functions.push_back(m.functions[0]); }},
            Inconsistency{"NoCalls", [](Manifest& m) { m.functions[0].calls.clear(); }},
            Inconsistency{"FieldsOfALeaf", [](Manifest& m) { call(m).parameters[0].form = Form::leaf; },
                          of_structs},
            Inconsistency{"FieldsThatArePassedOneByOne",
                          [](Manifest& m) { call(m).parameters[0].form = Form::fields; }, of_structs},
            Inconsistency{"FieldCalledAsAnElement",
                          [](Manifest& m) { call(m).parameters[0].fields[0].name = "[0]"; }, of_structs},
            Inconsistency{"ElementsOfAnotherNumber",
                          [](Manifest& m) {
                              call(m).parameters[0].form = Form::fields;
                              call(m).parameters[0].extents = {77};
                          },
                          of_structs},
            Inconsistency{"FieldsOfNoParameter", [](Manifest& m) { call(m).parameters.clear(); }, of_structs},
            Inconsistency{"FieldInAnotherPlace", [](Manifest& m) { argument(m, 1).offset = 8; }, of_structs},
            Inconsistency{"FieldsInOnePlace",
                          [](Manifest& m) {
                              ParameterTree& ball = call(m).parameters[0];
                              ball.fields[1].offset = ball.fields[0].offset;
                              argument(m, 1).offset = argument(m, 0).offset;
                          },
                          of_written_structs},
            Inconsistency{"FieldsThatOverlap",
                          [](Manifest& m) {
                              ParameterTree& ball = call(m).parameters[0];
                              ball.fields[1].offset = argument(m, 1).offset = argument(m, 0).offset + 4;
                          },
                          of_written_structs},
            Inconsistency{"FastSumsForExactOnes",
                          [](Manifest& m) { std::swap(call(m).backward, call(m).deterministic); }, of_halves},
            Inconsistency{"AResourceThatTheCodeDoesNotTake",
                          [](Manifest& m) {
                              m.kernels[0].resources.push_back({"table"});
                              m.kernels[0].layouts["fake"].size += 16;
                              m.kernels[0].layouts["fake"].resource_places.push_back(
                                  m.kernels[0].layouts["fake"].size - 16);
                          }},
            Inconsistency{"NoResources",
                          [](Manifest& m) {
                              m.kernels[0].resources.clear();
                              for (auto& [target, layout] : m.kernels[0].layouts) {
                                  layout.resource_places.clear();
                              }
                          },
                          of_resources},
            Inconsistency{"ResourceOfAnotherKind",
                          [](Manifest& m) { m.kernels[0].resources[1].kind = ResourceKind::sampler; },
                          of_resources},
            Inconsistency{"ResourceThatIsOnlyRead",
                          [](Manifest& m) { m.kernels[0].resources[0].writes = false; }, of_resources},
            Inconsistency{"ResourceOfAnotherStride",
                          [](Manifest& m) { m.kernels[0].resources[0].stride = 4; }, of_resources},
            Inconsistency{"ResourceWithoutAStride",
                          [](Manifest& m) { m.kernels[0].resources[1].stride = 0; }, of_resources},
            Inconsistency{"TwoResourcesOfOneName",
                          [](Manifest& m) { m.kernels[0].resources[1].name = "table"; }, of_resources},
            Inconsistency{"ResourceWithoutAName", [](Manifest& m) { m.kernels[0].resources[1].name = ""; },
                          of_resources},
            Inconsistency{"TooManyResources",
                          [](Manifest& m) { m.kernels[0].resources.resize(257, {"table"}); }, of_resources},
            Inconsistency{"FewerPlacesThanResources",
                          [](Manifest& m) { m.kernels[0].layouts["vulkan"].resource_places.pop_back(); },
                          of_resources},
            Inconsistency{"ResourcesInAnotherOrder",
                          [](Manifest& m) {
                              m.kernels[0].layouts["vulkan"].resource_places = {1, 0};
                          },
                          of_resources},
            Inconsistency{"ResourceInASlotsPlace",
                          [](Manifest& m) { m.kernels[0].layouts["fake"].resource_places[0] = 0; },
                          of_resources},
            Inconsistency{"ResourcesInOnePlace",
                          [](Manifest& m) {
                              auto& places = m.kernels[0].layouts["fake"].resource_places;
                              places[1] = places[0] + 8;
                          },
                          of_resources},
            Inconsistency{"ResourceOutsideOfTheBlock",
                          [](Manifest& m) { m.kernels[0].layouts["fake"].size -= 16; }, of_resources},
            Inconsistency{"TextureOfAnotherFormat",
                          [](Manifest& m) { m.kernels[0].resources[1].format = "rgba16f"; }, of_textures},
            Inconsistency{"TextureOfNoFormat", [](Manifest& m) { texture_of(m, 1).format = "rgba9"; },
                          of_textures},
            Inconsistency{"WrittenTextureOfAnyFormat", [](Manifest& m) { texture_of(m, 1).format = ""; },
                          of_textures},
            Inconsistency{"WrittenTextureOfSrgb", [](Manifest& m) { texture_of(m, 1).format = "rgba8_srgb"; },
                          of_textures},
            Inconsistency{"IntegerTexelsOfFloats", [](Manifest& m) { texture_of(m, 1).texel = "int"; },
                          of_textures},
            Inconsistency{"TexelsOfNoType", [](Manifest& m) { texture_of(m, 0).texel = "double"; },
                          of_textures},
            Inconsistency{"ArrayOfVolumes",
                          [](Manifest& m) {
                              texture_of(m, 0).dimension = kinds::TextureDimension::three;
                              texture_of(m, 0).is_array = true;
                          },
                          of_textures},
            Inconsistency{"TextureOfAnotherRank", [](Manifest& m) { argument(m, 0).rank = 3; }, of_textures},
            Inconsistency{"TexelsOfAnotherRank", [](Manifest& m) { texture_of(m, 5).is_array = true; },
                          of_textures},
            Inconsistency{"TextureThatIsAResult", [](Manifest& m) { argument(m, 1).role = Role::result; },
                          of_textures},
            Inconsistency{"TexelsThatAreWrittenReadOnly", [](Manifest& m) { argument(m, 5).role = Role::out; },
                          of_textures},
            Inconsistency{"TextureWithAGradient",
                          [](Manifest& m) { argument(m, 0).gradient = Gradient::automatic; }, of_textures},
            Inconsistency{"SamplerWithDimensions", [](Manifest& m) { argument(m, 2).rank = 1; }, of_textures},
            Inconsistency{"FewerSamplers", [](Manifest& m) { m.kernels[0].resources[0].samplers = 1; },
                          of_textures},
            Inconsistency{"OverwrittenWithoutAGradient",
                          [](Manifest& m) { argument(m, 4).overwrite = true; }}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
