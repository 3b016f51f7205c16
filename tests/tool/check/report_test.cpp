// The report's two forms, whole.
#include "check/report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace kf::check {
namespace {

InputReport input(const std::string& name, Status status) {
    InputReport made;
    made.name = name;
    made.status = status;
    return made;
}

Report example() {
    Report report{"colors", "vulkan:0, llvmpipe", 1, {}, 7, {"5, blend.backward.strided"}};
    CallReport blend{
        "blend", "blend(a: float3 tensor[1], t: float, n: int) -> float3 tensor[1]", true, "", {}};
    InputReport a = input("a", Status::right);
    a.compared = 21;
    a.unsure = 1;
    a.largest_error = 3.25e-6;
    a.gradient = 0.5;
    a.differences = 0.5000016;
    a.uncertainty = 2e-5;
    a.place = "[3, 2]";
    a.how = "strided";
    InputReport factor = input("factor", Status::wrong);
    factor.compared = 4;
    factor.wrong = 3;
    factor.largest_error = 1;
    factor.gradient = 0.75;
    factor.differences = -0.75;
    factor.uncertainty = 1e-5;
    factor.place = "its value";
    factor.how = "deterministic, rows";
    InputReport n = input("n", Status::no_gradient);
    n.why_not = "integer type";
    blend.inputs = {a, factor, n};
    CallReport rough{"rough", "rough(x: float, y: float) -> float", true, "", {}};
    InputReport x = input("x", Status::not_smooth);
    x.unsure = 10;
    rough.inputs = {x, input("y", Status::not_finite)};
    rough.searched = {{"x", -3.25, 912}, {"y", 0.25, 0.5}};
    CallReport chosen{
        "pick", "pick(mode: int, n: int, w: float, edge: float, spare: float) -> float", true, "", {}};
    InputReport w = input("w", Status::not_exercised);
    w.compared = 9;
    InputReport edge = w;
    edge.name = "edge";
    edge.steps = true;
    chosen.inputs = {w, edge, input("spare", Status::unused)};
    chosen.tried = {{"mode", {"off", "on"}, {}, {}}, {"n", {"0", "1"}, {"-1"}, {"65537"}}};
    CallReport failed{
        "put", "put(x: float)", true, "a kernel needs 'float64'", {input("x", Status::not_run)}};
    report.calls = {blend, rough, failed, chosen};
    return report;
}

TEST(Report, Text) {
    EXPECT_EQ(text_of(example()), R"(colors on vulkan:0, llvmpipe, seed 1

blend(a: float3 tensor[1], t: float, n: int) -> float3 tensor[1]
  a       right        largest error 3.2e-06 at [3, 2] (strided), 21 compared, 1 not smooth
  factor  WRONG        at its value: gradient 0.75, differences -0.75 +- 1.0e-05 (deterministic, rows); 3 of 4 wrong
  n       no gradient  integer type

rough(x: float, y: float) -> float
  x  not smooth   differences depend on the step at each of 10 places
  y  not finite   infinities or NaN at every try, with numbers of all sizes: state --range or --shape
  compared for x from -3.25 to 912, y from 0.25 to 0.5: other numbers gave infinities or NaN

put(x: float)
  FAILED       a kernel needs 'float64'
  x  not run

pick(mode: int, n: int, w: float, edge: float, spare: float) -> float
  w      not exercised  gradient and differences are 0 at each of 9 places, and no other value of it changed a result: state --range or --shape
  edge   not exercised  gradient and differences are 0 at each of 9 places: results change with it by steps alone
  spare  unused       no result depends on it
  tried: mode = off, on; n = 0, 1 (not 65537)
  infinities or NaN, at times or always: n = -1

1 input right, 1 wrong, 3 not comparable, 2 not exercised, 1 unused, 1 without a gradient; 6 of 7 backward kernels run
  not run: 5, blend.backward.strided
  not passed: gradients of rough were not compared: give them what they need, or leave them out with --except
)");
}

TEST(Report, Json) {
    const nlohmann::json json = nlohmann::json::parse(json_of(example()));
    EXPECT_EQ(json["module"], "colors");
    EXPECT_EQ(json["right"], false);
    EXPECT_EQ(json["calls"].size(), 4U);
    EXPECT_EQ(json["calls"][0]["inputs"][0]["largest_error"]["place"], "[3, 2]");
    EXPECT_EQ(json["calls"][0]["inputs"][1]["status"], "WRONG");
    EXPECT_EQ(json["calls"][0]["inputs"][1]["wrong"], 3);
    EXPECT_EQ(json["calls"][0]["inputs"][2]["why"], "integer type");
    EXPECT_EQ(json["calls"][2]["failure"], "a kernel needs 'float64'");
    EXPECT_EQ(json["calls"][3]["inputs"][0]["status"], "not exercised");
    EXPECT_EQ(json["calls"][3]["inputs"][1]["steps"], true);
    EXPECT_EQ(json["calls"][3]["tried"][1]["values"], nlohmann::json::array({"0", "1"}));
    EXPECT_EQ(json["calls"][3]["tried"][1]["not_given"][0], "65537");
    EXPECT_EQ(json["kernels_not_run"][0], "5, blend.backward.strided");
    EXPECT_EQ(json["calls"][1]["searched"][0],
              (nlohmann::json{{"name", "x"}, {"low", -3.25}, {"high", 912.0}}));
    EXPECT_EQ(json["not_passed"], nlohmann::json::array({"rough"}));
}

TEST(Report, IsRightOnlyWithoutWrongGradientsAndFailures) {
    Report report = example();
    EXPECT_FALSE(report.is_right());
    report.calls[3].inputs[0].steps = true;
    report.calls.erase(report.calls.begin() + 2);
    EXPECT_FALSE(report.is_right());
    report.calls[0].inputs[1].status = Status::right;
    EXPECT_FALSE(report.is_right());
    report.calls[1].inputs = {input("x", Status::right)};
    EXPECT_TRUE(report.is_right());
    for (const Status open : {Status::not_smooth, Status::not_finite, Status::not_run, Status::not_checked}) {
        report.calls[1].inputs[0].status = open;
        EXPECT_FALSE(report.is_right()) << status_name(open);
    }
    report.calls[1].inputs[0].status = Status::no_gradient;
    EXPECT_TRUE(report.is_right());
    report.calls[2].inputs[0].steps = false;
    EXPECT_FALSE(report.is_right());
    report.calls[2].inputs[0].steps = true;
    report.calls[1].failure = "no";
    EXPECT_FALSE(report.is_right());
    report.calls[1].failure.clear();
    EXPECT_TRUE(report.is_right());
    report.calls[1].past_limits = {{{"/d/march.slang", 12, "march", "8"}}};
    EXPECT_FALSE(report.is_right());
}

TEST(Report, IsNotRightWhereNothingWasCompared) {
    Report report{"plain", "vulkan:0, llvmpipe", 1, {}, 0, {}};
    EXPECT_FALSE(report.is_right());
    report.calls = {{"f", "f(x: float) -> float", false, "", {input("x", Status::no_gradient)}}};
    EXPECT_FALSE(report.is_right());
    EXPECT_THAT(text_of(report), testing::EndsWith(R"(0 of 0 backward kernels run
  not passed: nothing was compared: no call has a gradient, which "backward": true asks for
)"));
    report.calls[0].inputs[0].status = Status::not_finite;
    EXPECT_FALSE(report.is_right());
    EXPECT_THAT(text_of(report), testing::EndsWith("\n  not passed: nothing was compared\n"));
    report.calls[0].inputs[0].status = Status::right;
    EXPECT_TRUE(report.is_right());
    EXPECT_THAT(text_of(report), testing::EndsWith(" backward kernels run\n"));
}

TEST(Report, NamesLoopsThatRanPastTheirLimits) {
    Report report{"scene", "vulkan:0, llvmpipe", 1, {}, 2, {}};
    CallReport march{"march", "march(x: float) -> float", true, "", {input("x", Status::unused)}};
    const PastLimit outer{"/d/march.slang", 12, "march", "8"};
    const PastLimit inner{"/d/steps.slang", 3, "", "N"};
    march.past_limits = {{outer}, {inner, outer}};
    report.calls = {march};
    EXPECT_EQ(text_of(report), R"(scene on vulkan:0, llvmpipe, seed 1

march(x: float) -> float
  WRONG        the loop in 'march' at march.slang:12 ran more often than its [MaxIters(8)] says: gradients may lack iterations; raise the limit to the largest count that calls may have
  WRONG        one of these loops ran more often than its limit says: the loop at steps.slang:3 with [MaxIters(N)], the loop in 'march' at march.slang:12 with [MaxIters(8)]: gradients may lack iterations; raise the limit to the largest count that calls may have
  x  unused       no result depends on it

0 inputs right, 0 wrong, 0 not comparable, 1 call past a loop's limit, 1 unused, 0 without a gradient; 2 of 2 backward kernels run
)");
    const nlohmann::json json = nlohmann::json::parse(json_of(report));
    EXPECT_EQ(json["right"], false);
    EXPECT_EQ(json["calls"][0]["past_limits"].size(), 2U);
    EXPECT_EQ(json["calls"][0]["past_limits"][1][0]["line"], 3);
    EXPECT_EQ(
        json["calls"][0]["past_limits"][1][1],
        (nlohmann::json{{"file", "/d/march.slang"}, {"line", 12}, {"function", "march"}, {"limit", "8"}}));
}

}  // namespace
}  // namespace kf::check
