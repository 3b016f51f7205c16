// What a valid spec may ask for that this version doesn't generate: each is refused with its place.
#include "spec/supported.h"

#include <gtest/gtest.h>

#include "spec/parse.h"

namespace kf::gen {
namespace {

Diagnostics check(const std::string& top, const std::string& call) {
    const Outcome<Spec> spec = parse_spec(
        "{\"version\": 1, \"name\": \"m\", \"modules\": [\"m\"], \"calls\": [\n{\"function\": \"f\"" + call +
            "}]" + top + "}",
        "s");
    if (!spec) {
        ADD_FAILURE() << format_text(spec.errors().front());
        return {};
    }
    return check_supported(spec.value());
}

TEST(Supported, PassesWhatIsGenerated) {
    EXPECT_EQ(
        check(
            R"(, "targets": ["vulkan", {"cuda": {"arch": ["sm_90"], "ptx": false}}], "defines": {"A": "1"}, "search_paths": ["x"], "namespace": "a::b", "constants": {"N": 1}, "types": {"A": "B"}, "link": ["a"], "conformances": [{"interface": "I", "type": "T"}])",
            R"(, "args": {"a": ["value", "value<int>", "tensor[1]", {"kind": "tensor<float>[2]", "grad": "auto", "map": [1, 0]}, "call_id", "thread_id", "grid[2]", "range", "wang_hash", "rand_float"]},
                        "backward": {"inputs": ["a"]}, "forward_diff": true, "strict_broadcasting": true, "threads": [64], "name": "g", "variants": {"a": {"threads": [8, 8]}})"),
        Diagnostics{});
}

TEST(Supported, RefusesOtherKindsAtTheirPlace) {
    const Diagnostics errors = check(
        "", R"(, "args": {"a": ["value", "acceleration_structure"]}, "result": "acceleration_structure")");
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].id, "kind-not-supported");
    EXPECT_EQ(errors[0].location, (Location{"s", 2, 43}));
    EXPECT_EQ(errors[1].location, (Location{"s", 2, 81}));
}

TEST(Supported, RefusesOtherFeatures) {
    for (const char* top : {R"("graphs": [{"name": "g"}])", R"("pipelines": [{"name": "g"}])"}) {
        const Diagnostics errors = check(std::string(", ") + top, "");
        ASSERT_EQ(errors.size(), 1U) << top;
        EXPECT_EQ(errors[0].id, "spec-not-supported") << top;
        EXPECT_GT(errors[0].location.line, 0) << top;
    }
}

TEST(Supported, ChecksTheObjectOfAMethod) {
    EXPECT_TRUE(check("", R"(, "this": ["value", "tensor[1]", {"fields": {"x": "tensor[1]"}}])").empty());
    for (const char* kind :
         {R"("acceleration_structure")", R"({"fields": {"x": "acceleration_structure"}})"}) {
        const Diagnostics errors = check("", R"(, "this": )" + std::string(kind));
        ASSERT_EQ(errors.size(), 1U) << kind;
        EXPECT_EQ(errors[0].id, "kind-not-supported") << kind;
    }
}

TEST(Supported, TakesDeterministicGradients) {
    for (const char* way : {"true", "false", "\"auto\""}) {
        EXPECT_TRUE(check("", R"(, "backward": {"deterministic": )" + std::string(way) + "}").empty()) << way;
    }
}

TEST(Supported, TakesEveryWayToAccumulate) {
    for (const char* way :
         {R"("none")", R"("sum")", R"("first")", R"("push")", R"("overwrite")", R"(["sum", "push"])"}) {
        const std::string kind = R"({"kind": "tensor[1]", "accumulate": )" + std::string(way) + "}";
        EXPECT_TRUE(check("", R"(, "args": {"a": )" + kind + "}").empty()) << way;
        EXPECT_TRUE(check("", R"(, "accumulate": {"a.grad": )" + std::string(way) + "}").empty()) << way;
    }
}

}  // namespace
}  // namespace kf::gen
