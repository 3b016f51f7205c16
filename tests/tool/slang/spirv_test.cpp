// SPIR-V bytes made by hand.
#include "slang/spirv.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>

#include "slang/logical_copies.h"
#include "slang/pointer_variables.h"
#include "slang/signed_remainders.h"
#include "slang/workarounds/folded_vectors.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string spirv(const std::vector<std::vector<std::uint32_t>>& instructions) {
    std::vector<std::uint32_t> words = {0x07230203, 0x00010500, 0, 10, 0};
    for (const auto& instruction : instructions) {
        words.push_back(static_cast<std::uint32_t>(instruction.size()) << 16U | instruction[0]);
        words.insert(words.end(), instruction.begin() + 1, instruction.end());
    }
    std::string bytes(words.size() * sizeof(words[0]), '\0');
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

std::vector<std::uint32_t> extension(const std::string& name) {
    std::vector<std::uint32_t> words((name.size() / 4) + 2);
    words[0] = 10;
    std::memcpy(&words[1], name.data(), name.size());
    return words;
}

TEST(Spirv, PatchesOnlyTheSourceLanguage) {
    std::string code = spirv({{17, 1}, {3, 11, 1}, {17, 3}, {3, 11, 2}});
    ASSERT_TRUE(patch_source_language(code));
    EXPECT_EQ(code, spirv({{17, 1}, {3, 0, 1}, {17, 3}, {3, 0, 2}}));
}

std::vector<std::uint32_t> name(std::uint32_t id, const std::string& text) {
    std::vector<std::uint32_t> words((text.size() / 4) + 3);
    words[0] = 5;
    words[1] = id;
    std::memcpy(&words[2], text.data(), text.size());
    return words;
}

TEST(Spirv, PutsTheBlockAtTheFirstBinding) {
    // Decorations 33 and 34 are Binding and DescriptorSet; storage 2 is Uniform, 12 StorageBuffer.
    const auto code = [](std::uint32_t binding, std::uint32_t set) {
        return spirv({name(7, "entryPointParams_kf_args"),
                      {71, 7, 33, binding},
                      {71, 7, 34, set},
                      {71, 8, 33, 5},
                      {59, 4, 7, 2},
                      {59, 4, 9, 1}});
    };
    std::string displaced = code(3, 1);
    EXPECT_THAT(bind_block(displaced), IsEmpty());
    EXPECT_EQ(displaced, code(0, 0));
    std::string others = spirv({name(8, "log"), name(7, "entryPointParams"), {59, 4, 7, 9}, {59, 4, 8, 12}});
    EXPECT_THAT(bind_block(others), ElementsAre("log"));
}

TEST(Spirv, MarksVariablesThatHoldAddresses) {
    // 22 is OpTypeFloat, 32 OpTypePointer with storage 5349, PhysicalStorageBuffer, or 7, Function; 28
    // OpTypeArray, 5355 and 5356 RestrictPointer and AliasedPointer.
    const std::vector<std::vector<std::uint32_t>> types{
        {22, 1, 32},   {32, 2, 5349, 1}, {28, 3, 2, 9},  {32, 4, 7, 2},  {32, 5, 7, 3},
        {32, 6, 7, 1}, {59, 4, 11, 7},   {59, 5, 12, 7}, {59, 6, 13, 7}, {59, 4, 14, 7}};
    std::vector<std::vector<std::uint32_t>> given{{17, 1}, {71, 14, 5355}};
    given.insert(given.end(), types.begin(), types.end());
    std::string code = spirv(given);
    std::vector<std::vector<std::uint32_t>> expected{{17, 1}, {71, 14, 5355}, {71, 11, 5356}, {71, 12, 5356}};
    expected.insert(expected.end(), types.begin(), types.end());
    ASSERT_TRUE(mark_aliased_pointers(code));
    EXPECT_EQ(code, spirv(expected));
    ASSERT_TRUE(mark_aliased_pointers(code));
    EXPECT_EQ(code, spirv(expected)) << "once";
}

TEST(Spirv, MarksBuffersThatMayBeTheSame) {
    // 59 is OpVariable with storage 12, StorageBuffer, or 7, Function; 20 Aliased.
    const auto code = [](const std::vector<std::vector<std::uint32_t>>& decorations) {
        std::vector<std::vector<std::uint32_t>> all{{17, 1}};
        all.insert(all.end(), decorations.begin(), decorations.end());
        for (const auto& words : std::vector<std::vector<std::uint32_t>>{
                 {22, 1, 32}, {32, 2, 12, 1}, {59, 2, 7, 12}, {59, 2, 8, 7}, {59, 2, 9, 12}})
            all.push_back(words);
        return spirv(all);
    };
    std::string marked = code({});
    mark_aliased_buffers(marked);
    EXPECT_EQ(marked, code({{71, 7, 20}, {71, 9, 20}}));
}

TEST(Spirv, CopiesStructsMemberByMember) {
    // 28 is OpTypeArray, 30 OpTypeStruct, 61 OpLoad, 81 OpCompositeExtract, 80 OpCompositeConstruct, 400
    // OpCopyLogical; new ids begin at the bound, 10.
    const std::vector<std::vector<std::uint32_t>> types{{22, 1, 32},   {43, 0, 2, 2}, {28, 3, 1, 2},
                                                        {28, 4, 1, 2}, {30, 5, 1, 3}, {30, 6, 1, 4}};
    std::vector<std::vector<std::uint32_t>> given = types;
    for (const auto& words :
         std::vector<std::vector<std::uint32_t>>{{61, 5, 7, 9}, {400, 6, 8, 7}, {62, 9, 8}})
        given.push_back(words);
    std::vector<std::vector<std::uint32_t>> expected = types;
    for (const auto& words : std::vector<std::vector<std::uint32_t>>{{61, 5, 7, 9},
                                                                     {81, 1, 10, 7, 0},
                                                                     {81, 3, 11, 7, 1},
                                                                     {81, 1, 13, 11, 0},
                                                                     {81, 1, 14, 11, 1},
                                                                     {80, 4, 12, 13, 14},
                                                                     {80, 6, 8, 10, 12},
                                                                     {62, 9, 8}})
        expected.push_back(words);
    std::string code = spirv(given);
    ASSERT_TRUE(expand_logical_copies(code));
    constexpr std::uint32_t bound = 15;
    std::string copied = spirv(expected);
    std::memcpy(copied.data() + 3 * sizeof bound, &bound, sizeof bound);
    EXPECT_EQ(code, copied);
    std::string bad = "no SPIR-V";
    EXPECT_FALSE(expand_logical_copies(bad));
}

TEST(Spirv, SettlesVariablesThatHoldOneBuffer) {
    // 46 is OpConstantNull, 59 OpVariable, 61 OpLoad, 62 OpStore, 83 OpCopyObject. Of type 1: null 2, buffers
    // 3 and 4; variables 5 (null and 3), 6 (3 and 4), 7 (3 and a value from elsewhere), 8 (a scalar).
    const auto with = [](const std::vector<std::vector<std::uint32_t>>& loads) {
        std::vector<std::vector<std::uint32_t>> all = {
            {46, 1, 2},    {59, 1, 3, 12}, {59, 1, 4, 12}, {59, 9, 5, 7}, {59, 9, 6, 7},
            {59, 9, 7, 7}, {59, 9, 8, 7},  {62, 5, 2},     {62, 5, 3},    {62, 6, 3},
            {62, 6, 4},    {62, 7, 3},     {62, 7, 30},    {62, 8, 31}};
        all.insert(all.end(), loads.begin(), loads.end());
        return spirv(all);
    };
    std::string code =
        with({{61, 1, 20, 5}, {61, 1, 21, 6}, {61, 1, 22, 7}, {61, 10, 23, 8}, {61, 1, 24, 5, 2, 4}});
    ASSERT_TRUE(settle_pointer_variables(code));
    EXPECT_EQ(code, with({{83, 1, 20, 3}, {61, 1, 21, 6}, {61, 1, 22, 7}, {61, 10, 23, 8}, {83, 1, 24, 3}}));
    std::string bad = "no SPIR-V";
    EXPECT_FALSE(settle_pointer_variables(bad));
}

TEST(Spirv, FollowsWhatVariablesHoldThroughBlocks) {
    // 54 is OpFunction, 248 OpLabel, 246 OpLoopMerge, 249 OpBranch, 250 OpBranchConditional. Buffers 3 and 4
    // of type 1; block 52 is a loop's body, which stores the other buffer, or nothing.
    const auto with = [](std::vector<std::uint32_t> first, std::vector<std::uint32_t> in_loop,
                         std::vector<std::uint32_t> behind, std::vector<std::uint32_t> copied) {
        return spirv({{46, 1, 2},        {59, 1, 3, 12},     {59, 1, 4, 12}, {54, 8, 7, 0, 8},
                      {248, 50},         {59, 9, 5, 7},      {59, 9, 6, 7},  {62, 5, 3},
                      std::move(first),  {62, 6, 20},        {249, 51},      {248, 51},
                      {246, 53, 52, 0},  {250, 60, 52, 53},  {248, 52},      {62, 5, 2},
                      {62, 5, 4},        std::move(in_loop), {249, 51},      {248, 53},
                      std::move(behind), std::move(copied),  {253},          {56}});
    };
    std::string code = with({61, 1, 20, 5}, {61, 1, 21, 5}, {61, 1, 22, 5}, {61, 1, 23, 6});
    ASSERT_TRUE(settle_pointer_variables(code));
    EXPECT_EQ(code, with({83, 1, 20, 3}, {83, 1, 21, 4}, {61, 1, 22, 5}, {83, 1, 23, 3}));
}

TEST(Spirv, LeavesCopiesOfWhatItDoesNotKnow) {
    // 50 is OpSpecConstant. Structs 7 and 8 hold arrays of a length that specialisation sets, 9 and 10 ones
    // that no OpCompositeConstruct can list; no instruction gives value 12 a type that is known.
    const std::string given = spirv({{22, 1, 32},
                                     {50, 0, 2, 2},
                                     {28, 3, 1, 2},
                                     {28, 4, 1, 2},
                                     {30, 7, 3},
                                     {30, 8, 4},
                                     {43, 0, 5, 70000},
                                     {28, 20, 1, 5},
                                     {28, 21, 1, 5},
                                     {30, 9, 20},
                                     {30, 10, 21},
                                     {61, 7, 11, 30},
                                     {400, 8, 13, 11},
                                     {61, 9, 14, 30},
                                     {400, 10, 15, 14},
                                     {65, 8, 12, 30},
                                     {400, 8, 16, 12},
                                     {61, 1, 17, 30},
                                     {400, 8, 18, 17}});
    std::string code = given;
    ASSERT_TRUE(expand_logical_copies(code));
    EXPECT_EQ(code, given);
}

TEST(Spirv, LeavesVariablesThatAreUsedInOtherWays) {
    // 54 is OpFunction, 64 OpCopyMemorySized, 65 OpAccessChain, 83 OpCopyObject. Buffers 3 and 4 of type 1.
    const auto loaded = [](std::uint32_t variable, const std::vector<std::vector<std::uint32_t>>& uses) {
        std::vector<std::vector<std::uint32_t>> all = {{59, 1, 3, 12},   {59, 1, 4, 12}, {59, 9, 6, 6, 4},
                                                       {54, 8, 7, 0, 8}, {59, 9, 5, 7},  {62, 5, 3}};
        all.insert(all.end(), uses.begin(), uses.end());
        all.push_back({61, 1, 20, variable});
        return spirv(all);
    };
    for (const std::vector<std::uint32_t>& use :
         std::vector<std::vector<std::uint32_t>>{{64, 5, 30, 31},
                                                 {63, 5, 30},
                                                 {83, 9, 21, 5},
                                                 {65, 9, 21, 5, 31},
                                                 {62, 32, 5},
                                                 {57, 1, 21, 33, 5}}) {
        const std::string given = loaded(5, {use});
        std::string code = given;
        ASSERT_TRUE(settle_pointer_variables(code));
        EXPECT_EQ(code, given) << use[0];
    }
    // What is stored through a chain says nothing of the chain's loads, nor a private variable's initialiser
    // of what is stored after it.
    for (const std::string& given :
         {loaded(21, {{65, 9, 21, 30, 31}, {62, 21, 3}}), loaded(6, {{62, 6, 3}})}) {
        std::string code = given;
        ASSERT_TRUE(settle_pointer_variables(code));
        EXPECT_EQ(code, given);
    }
    // Literals are no uses.
    std::string code =
        loaded(5, {{81, 1, 22, 40, 5}, {8, 41, 5, 5}, {12, 1, 23, 42, 5, 43}, {250, 44, 45, 46, 5}});
    const std::string given = code;
    ASSERT_TRUE(settle_pointer_variables(code));
    EXPECT_NE(code, given);
}

TEST(Spirv, RepairsVectorsThatAreNull) {
    // 22 is OpTypeFloat, 23 OpTypeVector, 24 OpTypeMatrix, 43 OpConstant, 46 OpConstantNull.
    const auto with = [](const std::vector<std::vector<std::uint32_t>>& constants) {
        std::vector<std::vector<std::uint32_t>> all = {
            {22, 1, 32}, {23, 2, 1, 3}, {24, 3, 2, 2}, {43, 1, 4, 0}};
        all.insert(all.end(), constants.begin(), constants.end());
        all.push_back({43, 1, 9, 7});
        return spirv(all);
    };
    std::string code = with({{43, 2, 5, 0}, {43, 3, 6, 0}, {43, 2, 7, 0, 0}});
    ASSERT_TRUE(repair_null_vectors(code));
    EXPECT_EQ(code, with({{46, 2, 5}, {46, 3, 6}, {46, 2, 7}}));
    std::string other = with({{43, 2, 5, 0}, {43, 2, 6, 1}});
    EXPECT_FALSE(repair_null_vectors(other));
    std::string right = with({});
    ASSERT_TRUE(repair_null_vectors(right));
    EXPECT_EQ(right, with({}));
}

TEST(Spirv, ExpandsSignedRemainders) {
    // 129 is OpFAdd, 130 OpISub, 132 OpIMul, 135 OpSDiv, 137 OpUMod, 138 OpSRem. The bound was 10.
    std::string code = spirv({{129, 1, 3, 4, 5}, {138, 2, 6, 7, 8}, {137, 2, 9, 7, 8}});
    std::string wanted = spirv(
        {{129, 1, 3, 4, 5}, {135, 2, 10, 7, 8}, {132, 2, 11, 10, 8}, {130, 2, 6, 7, 11}, {137, 2, 9, 7, 8}});
    wanted[12] = 12;
    ASSERT_TRUE(expand_signed_remainders(code));
    EXPECT_EQ(code, wanted);
    std::string none = spirv({{137, 2, 9, 7, 8}});
    const std::string given = none;
    ASSERT_TRUE(expand_signed_remainders(none));
    EXPECT_EQ(none, given);
}

TEST(Spirv, RefusesWhatIsNoModule) {
    const std::string good = spirv({{3, 11, 1}});
    for (std::string code :
         {std::string(), std::string("abcdefghijklmnopqrstuvwx"), good.substr(0, good.size() - 4),
          good.substr(0, good.size() - 1), spirv({{3, 11, 1}}) + std::string(4, '\0')}) {
        const std::string before = code;
        EXPECT_FALSE(patch_source_language(code));
        EXPECT_FALSE(expand_signed_remainders(code));
        EXPECT_EQ(code, before);
        EXPECT_THAT(required_features(code), IsEmpty());
        EXPECT_TRUE(specialized_values(code).empty());
    }
}

TEST(Spirv, KnowsWhatPipelinesSet) {
    // OpName %5 "abc"; OpDecorate %5 SpecId 7, %6 SpecId 2, %8 Aliased.
    const std::string code = spirv({{5, 5, 0x00636261}, {71, 5, 1, 7}, {71, 6, 1, 2}, {71, 8, 20}});
    const std::vector<SpecializedValue> found = specialized_values(code);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].id, 2U);
    EXPECT_EQ(found[0].name, "number 2");
    EXPECT_EQ(found[1].id, 7U);
    EXPECT_EQ(found[1].name, "abc");
    EXPECT_TRUE(specialized_values("no SPIR-V").empty());
}

TEST(Spirv, MapsCapabilities) {
    EXPECT_THAT(required_features(spirv({{17, 1}})), IsEmpty());
    EXPECT_THAT(required_features(spirv({{17, 1}, {17, 11}, {17, 9}, {17, 39}, {17, 22}, {17, 10}})),
                ElementsAre("float16", "float64", "int16", "int64", "int8"));
    EXPECT_THAT(
        required_features(spirv({{17, 6033}, {17, 6034}, {17, 6095}, {17, 12}})),
        ElementsAre("float16_atomic_add", "float32_atomic_add", "float64_atomic_add", "int64_atomics"));
    EXPECT_THAT(required_features(spirv({{17, 61}, {17, 62}, {17, 63}, {17, 64}, {17, 65}})),
                ElementsAre("subgroup_arithmetic", "subgroup_ballot", "subgroup_basic", "subgroup_shuffle",
                            "subgroup_vote"));
    EXPECT_THAT(required_features(spirv({{17, 4433}, {17, 4448}, {17, 4435}, {17, 4450}})),
                ElementsAre("push_constant16", "push_constant8", "storage16", "storage8"));
}

TEST(Spirv, AddressesNeedScalarLayout) {
    EXPECT_THAT(required_features(spirv({{17, 5347}})),
                ElementsAre("buffer_device_address", "scalar_layout"));
}

TEST(Spirv, NamesWhatItDoesNotKnow) {
    EXPECT_THAT(required_features(spirv(
                    {{17, 60000}, extension("SPV_KHR_physical_storage_buffer"), extension("SPV_XYZ_new")})),
                ElementsAre("capability-60000", "extension-SPV_XYZ_new"));
}

}  // namespace
}  // namespace kf::gen
