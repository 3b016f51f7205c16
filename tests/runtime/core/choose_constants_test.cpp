// Kernels with other values of the constants that run time chooses, and artifacts that contradict themselves.
#include "core/choose_constants.h"

#include <gmock/gmock.h>
#include <kf/error.h>

#include <functional>

#include "core/artifact.h"
#include "runtime/core/manifests.h"

namespace kf::detail {
namespace {

using manifest::ChosenConstant;
using manifest::Manifest;
using test::ManifestBuilder;
using test::tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Given = std::vector<std::pair<std::string, std::string>>;

/// f, whose kernels depend on N and flag, in groups of 2 N x 1 x 1; one of them has code for N = 4 and for N
/// = 8.
Manifest two_values() {
    ManifestBuilder builder;
    builder.add("f", {tensor("a", 1)}, false);
    Manifest made = builder.get();
    made.constants = {{"N", ScalarType::int32, {"4", "8"}},
                      {"flag", ScalarType::boolean, {"false"}},
                      {"gain", ScalarType::float16, {"0.5"}}};
    for (manifest::Kernel& kernel : made.kernels) {
        kernel.constants = {0, 1, 2};
        kernel.group_extents = {{2, {0}}, {}, {}};
    }
    manifest::Kernel& kernel = made.kernels.front();
    kernel.layouts["cuda"] = kernel.layouts.begin()->second;
    for (const char* value : {"4", "8"}) {
        manifest::Image image = kernel.images.front();
        image.format = "cubin";
        image.architecture = "sm_90";
        image.constants = {value, "false", "0.5"};
        kernel.images.push_back(std::move(image));
    }
    return made;
}

TEST(ChooseConstants, SetsPipelinesGroupsAndImages) {
    const Manifest all = two_values();
    const std::size_t images = all.kernels.front().images.size();
    const Manifest usual = choose_constants(all, default_constants(all));
    EXPECT_EQ(usual.functions.front().name, "f");
    EXPECT_THAT(usual.kernels.front().chosen,
                ElementsAre(ChosenConstant{0, 4, 4}, ChosenConstant{1, 4, 0}, ChosenConstant{2, 2, 0x3800}));
    EXPECT_EQ(usual.kernels.front().images.size(), images - 1);
    const Manifest eight = choose_constants(all, {"8", "true", "-2"});
    EXPECT_EQ(eight.functions.front().name, "f.options(constants N=8, flag=true, gain=minus_2)");
    EXPECT_THAT(eight.kernels.front().chosen,
                ElementsAre(ChosenConstant{0, 4, 8}, ChosenConstant{1, 4, 1}, ChosenConstant{2, 2, 0xC000}));
    EXPECT_THAT(eight.kernels.front().group_size, ElementsAre(16, 1, 1));
    EXPECT_EQ(eight.kernels.front().images.size(), images - 2) << "no code for CUDA has flag";
    EXPECT_EQ(choose_constants(all, {"8", "false", "0.5"}).kernels.front().images.size(), images - 1);
}

TEST(ChooseConstants, KnowsWhatCudaHas) {
    const Manifest all = two_values();
    Manifest one = all;
    one.kernels.resize(1);
    std::erase_if(one.kernels[0].images, [](const auto& image) { return image.format != "cubin"; });
    const auto check = [&](const ConstantValues& values, const std::string& backend) -> std::string {
        try {
            check_listed(choose_constants(one, values), values, backend);
        } catch (const ArgumentError& error) {
            EXPECT_EQ(error.code(), ErrorCode::unknown_name);
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(check({"8", "false", "0.5"}, "cuda"), "");
    EXPECT_EQ(check({"9", "false", "0.5"}, "vulkan"), "");
    EXPECT_THAT(check({"9", "false", "0.5"}, "cuda"),
                HasSubstr("nothing was generated for CUDA with N = 9, flag = false, gain = 0.5; there is: N "
                          "(int; 4, 8)"));
}

TEST(ChosenConstants, AreTakenOutOfWhatIsGiven) {
    const Manifest all = two_values();
    Given given{{"flag", "true"}, {"other", "1"}, {"gain", "0.1"}};
    EXPECT_THAT(chosen_constants(all, 0, default_constants(all), given),
                ElementsAre("4", "true", "0.099975586"));
    EXPECT_THAT(given, ElementsAre(std::pair<std::string, std::string>("other", "1")));
}

TEST(ChosenConstants, AreOfTheirTypes) {
    struct Row {
        const char* name;
        const char* text;
        ErrorCode code;
        const char* message;
    };
    const Manifest all = two_values();
    for (const Row& row :
         {Row{"N", "1.5", ErrorCode::type_mismatch, "f: options: constants.N: expected int, -2147483648 to"},
          Row{"N", "true", ErrorCode::type_mismatch, "found true"},
          Row{"N", "2147483648", ErrorCode::value_range, "to 2147483647, found 2147483648"},
          Row{"flag", "1", ErrorCode::type_mismatch, "expected bool, true or false, found 1"},
          Row{"gain", "65520", ErrorCode::value_range, "expected half, -65504 to 65504, found 65520"},
          Row{"gain", "inf", ErrorCode::value_range, "found inf"},
          Row{"N", "0", ErrorCode::value_range, "with N = 0, flag = false, gain = 0.5 a group has [0, 1, 1]"},
          Row{"N", "-4", ErrorCode::value_range, "expected 1 to 1024 threads in all, and up to 64 along z"},
          Row{"N", "513", ErrorCode::value_range, "a group has [1026, 1, 1] threads"}}) {
        SCOPED_TRACE(row.text);
        Given given{{row.name, row.text}};
        try {
            (void)chosen_constants(all, 0, default_constants(all), given);
            ADD_FAILURE() << "it is taken";
        } catch (const ArgumentError& error) {
            EXPECT_EQ(error.code(), row.code);
            EXPECT_THAT(error.what(), HasSubstr(row.message));
        }
    }
}

TEST(ChooseConstants, KeepsGroupsFlatEnoughForDevices) {
    Manifest all = two_values();
    for (manifest::Kernel& kernel : all.kernels) kernel.group_extents = {{}, {}, {1, {0}}};
    Given given{{"N", "64"}};
    EXPECT_EQ(chosen_constants(all, 0, default_constants(all), given).front(), "64");
    given = {{"N", "65"}};
    try {
        (void)chosen_constants(all, 0, default_constants(all), given);
        ADD_FAILURE() << "it is taken";
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::value_range);
        EXPECT_THAT(error.what(), HasSubstr("a group has [1, 1, 65] threads"));
    }
}

TEST(ConstantBits, AreOfEachType) {
    EXPECT_EQ(constant_bits("-1", ScalarType::int8), std::uint64_t{0xFF});
    EXPECT_EQ(constant_bits("-2", ScalarType::int64), ~std::uint64_t{1});
    EXPECT_EQ(constant_bits("18446744073709551615", ScalarType::uint64), ~std::uint64_t{0});
    EXPECT_EQ(constant_bits("-1", ScalarType::uint16), std::nullopt);
    EXPECT_EQ(constant_bits("1", ScalarType::float32), std::uint64_t{0x3F800000});
    EXPECT_EQ(constant_bits("1", ScalarType::float64), std::uint64_t{0x3FF0000000000000});
    EXPECT_EQ(constant_bits("", ScalarType::int32), std::nullopt);
    EXPECT_EQ(constant_bits("nan", ScalarType::float64), std::nullopt);
}

TEST(ArtifactConstants, AreWrittenAndRead) {
    const Manifest all = two_values();
    const Manifest found = artifact::read(artifact::write(all));
    EXPECT_EQ(found.constants, all.constants);
    for (std::size_t i = 0; i < all.kernels.size(); ++i) {
        EXPECT_EQ(found.kernels[i].constants, all.kernels[i].constants);
        EXPECT_EQ(found.kernels[i].group_extents, all.kernels[i].group_extents);
        for (std::size_t k = 0; k < all.kernels[i].images.size(); ++k)
            EXPECT_EQ(found.kernels[i].images[k].constants, all.kernels[i].images[k].constants);
    }
}

TEST(ArtifactConstants, AreChecked) {
    const std::vector<std::function<void(Manifest&)>> faults{
        [](Manifest& m) { m.constants[1].name = "N"; },
        [](Manifest& m) { m.constants[1].name = ""; },
        [](Manifest& m) { m.constants[1].values.clear(); },
        [](Manifest& m) { m.constants[1].values = {"2"}; },
        [](Manifest& m) { m.kernels[0].constants = {3}; },
        [](Manifest& m) { m.kernels[0].constants = {-1}; },
        [](Manifest& m) {
            m.kernels[0].constants = {1, 2};
        },
        [](Manifest& m) { m.kernels[0].group_extents.pop_back(); },
        [](Manifest& m) { m.kernels[0].group_extents[0].factor = 0; },
        [](Manifest& m) { m.kernels[0].group_extents[0].constants = {3}; },
        [](Manifest& m) { m.kernels[0].group_extents[0].constants = {1}; },
        [](Manifest& m) { m.kernels[0].group_extents[0].constants = {2}; },
        [](Manifest& m) { m.kernels[0].images.back().constants = {"4"}; },
    };
    for (std::size_t i = 0; i < faults.size(); ++i) {
        Manifest manifest = two_values();
        faults[i](manifest);
        EXPECT_THROW(artifact::check(manifest), ArtifactError) << i;
    }
}

}  // namespace
}  // namespace kf::detail
