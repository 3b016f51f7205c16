// Variants of functions: which one a request means, and artifacts whose variants contradict each other.
#include "core/variants.h"

#include <gmock/gmock.h>
#include <kf/error.h>

#include "core/artifact.h"
#include "core/items.h"
#include "core/mapping.h"
#include "runtime/core/manifests.h"

namespace kf::detail {
namespace {

using manifest::Accumulate;
using manifest::Function;
using manifest::Manifest;
using test::ManifestBuilder;
using test::tensor;
using ::testing::HasSubstr;

/// f and three variants of it, each with two ways to accumulate.
Manifest eight() {
    ManifestBuilder builder;
    manifest::Argument result = tensor("result", 1);
    result.role = manifest::Role::result;
    result.accumulate = Accumulate::sum;
    for (const char* name : {"f", "tiled", "five", "wide", "f sum", "tiled sum", "five sum", "wide sum"}) {
        builder.add(name, {tensor("a", 1), result});
    }
    for (std::int64_t i = 0; i < 8; ++i) {
        Function& function = builder.get().functions[static_cast<std::size_t>(i)];
        function.choices = {{"result", {"none", "sum"}}};
        function.chosen = {i % 4, 4 + i % 4};
        if (i >= 4) continue;
        function.option_sets = {
            {"tiled", {8, 8}, {}, {}, {}, 1},
            {"five", {}, {{"N", "5"}, {"flag", "true"}, {"wide", "9007199254740993"}}, {{"V", "A"}}, {}, 2},
            {"wide", {8, 8, 2}, {{"N", "5"}}, {}, {{"I", "A", 3}, {"I", "B", 4}}, 3}};
    }
    return builder.get();
}

TEST(Variants, AreFoundByWhereArgumentsLie) {
    Manifest manifest = eight();
    for (std::size_t i = 0; i < 8; ++i) {
        Function& function = manifest.functions[i];
        function.option_sets = manifest.functions[0].option_sets;
        function.calls[0].arguments[0].map = {i % 4 == 3 ? 1 : 0};
    }
    const auto found = [&](const std::vector<Mapping>& maps, std::size_t from = 0) {
        return mapped_function(manifest, from, maps);
    };
    EXPECT_EQ(found({{"a", {1}}}), 3U);
    EXPECT_EQ(found({{"a", {1}}}, 2), 3U);
    EXPECT_EQ(found({{"a", {1}}}, 5), 7U) << "with the way to accumulate that it has";
    EXPECT_EQ(found({{"a", {0}}}, 1), 1U) << "itself first";
    EXPECT_EQ(found({}, 6), 6U);
    const auto refusal = [&](const std::vector<Mapping>& maps, std::size_t from) -> std::string {
        try {
            (void)found(maps, from);
        } catch (const ArgumentError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refusal({{"a", {0}}}, 3),
                HasSubstr("map: more than one was generated with a [0]; there is: f (a [0]"));
    EXPECT_THAT(refusal({{"a", {2}}, {"b", {0}}}, 0),
                HasSubstr("f: map: nothing was generated with a [2], b [0]; there is: f (a [0]"));
}

TEST(Variants, AreFoundByWhatTheyHave) {
    const Manifest manifest = eight();
    EXPECT_EQ(artifact::read(artifact::write(manifest)).functions, manifest.functions);
    const auto found = [&](const VariantRequest& request, std::size_t from = 0) {
        return variant_function(manifest, from, request);
    };
    EXPECT_EQ(found({"tiled"}), 1U);
    EXPECT_EQ(found({"wide"}, 2), 3U) << "from another variant";
    EXPECT_EQ(found({{}, {8, 8}}), 1U);
    EXPECT_EQ(found({{}, {8, 8, 1}}), 1U);
    EXPECT_EQ(found({{}, {8, 8, 2}}), 3U);
    EXPECT_EQ(found({{}, {}, {{"N", "5.0"}, {"flag", "true"}}}), 2U);
    EXPECT_EQ(found({{}, {}, {{"wide", "9007199254740993"}}}), 2U);
    EXPECT_EQ(found({{}, {}, {}, {{"V", "A"}}}), 2U);
    EXPECT_EQ(found({{}, {}, {}, {}, {{"I", {"B", "A"}}}}), 3U);
    EXPECT_EQ(found({"wide", {}, {{"N", "5"}}}), 3U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(manifest::is_hidden(manifest, manifest.functions[i]), i != 0) << i;
    }
}

TEST(Variants, WhatIsNotExactlyOneIsAnErrorThatListsThem) {
    const Manifest manifest = eight();
    const auto expect_error = [&](const VariantRequest& request, std::size_t from, const char* what) {
        try {
            (void)variant_function(manifest, from, request);
            ADD_FAILURE() << "accepted: " << what;
        } catch (const ArgumentError& error) {
            EXPECT_EQ(error.code(), ErrorCode::unknown_name);
            EXPECT_THAT(error.what(), HasSubstr(what));
        }
    };
    expect_error(
        {"tile"}, 0,
        "f: options: no variant 'tile'; there is: 'tiled' (threads [8, 8]), 'five' (N = 5, flag = true, "
        "wide = 9007199254740993, V = A), 'wide' (threads [8, 8, 2], N = 5, A: I, B: I)");
    expect_error({{}, {}, {{"N", "5"}}}, 0, "f: options: more than one variant with N = 5; there is: 'five'");
    expect_error({{}, {4}}, 0, "no variant with threads [4]");
    expect_error({{}, {}, {{"wide", "9007199254740992"}}}, 0, "no variant with wide = 9007199254740992");
    expect_error({{}, {}, {{"flag", "false"}}}, 0, "no variant with flag = false");
    expect_error({{}, {}, {}, {}, {{"I", {"A"}}}}, 0, "no variant with A: I");
    expect_error({"five", {8, 8}}, 0, "no variant 'five' (threads [8, 8])");
    expect_error({"tiled"}, 4, "it has none");
}

TEST(Variants, KeepTheWaysToAccumulate) {
    Manifest manifest = eight();
    for (std::size_t i = 4; i < 8; ++i) {
        manifest.functions[i].option_sets = manifest.functions[0].option_sets;
    }
    EXPECT_EQ(artifact::read(artifact::write(manifest)).functions, manifest.functions);
    EXPECT_EQ(variant_function(manifest, 4, {"five"}), 6U);
    EXPECT_EQ(variant_function(manifest, 7, {"tiled"}), 5U);
}

TEST(Variants, InconsistentOnesAreRefused) {
    const auto expect_corrupt = [](const auto& edit, const char* what) {
        Manifest manifest = eight();
        edit(manifest);
        try {
            (void)artifact::read(artifact::write(manifest));
            ADD_FAILURE() << "accepted: " << what;
        } catch (const ArtifactError& error) {
            EXPECT_THAT(error.what(), HasSubstr("variant")) << what;
        }
    };
    expect_corrupt([](Manifest& m) { m.functions[0].option_sets[0].function = 8; }, "no such function");
    expect_corrupt([](Manifest& m) { m.functions[0].option_sets[0].function = -1; }, "no such function");
    expect_corrupt([](Manifest& m) { m.functions[0].option_sets[0].function = 4; }, "another function");
    expect_corrupt([](Manifest& m) { m.functions[0].option_sets[0].name = "five"; }, "a name twice");
    expect_corrupt([](Manifest& m) { m.functions[0].option_sets[0].name.clear(); }, "no name");
    expect_corrupt([](Manifest& m) { m.functions[1].option_sets.pop_back(); }, "a variant too few");
    expect_corrupt(
        [](Manifest& m) {
            m.functions[0].option_sets[0].threads = {1, 1, 1, 1};
        },
        "four dimensions");
}

}  // namespace
}  // namespace kf::detail
