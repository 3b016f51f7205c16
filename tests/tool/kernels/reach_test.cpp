// What calls must not depend on, in modules that the real Slang compiles, on both targets.
#include "kernels/reach.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "plan/resolve.h"
#include "spec/parse.h"
#include "support/support_modules.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Store final : public KernelStore {
public:
    std::optional<CompiledKernel> find(const std::string& key) override {
        const auto found = kept.find(key);
        if (found == kept.end()) return std::nullopt;
        ++hits;
        return found->second;
    }
    void keep(const std::string& key, const CompiledKernel& kernel) override { kept[key] = kernel; }

    std::map<std::string, CompiledKernel> kept;
    int hits = 0;
};

class ReachTest : public testing::TestWithParam<CodeTarget> {
protected:
    ReachReport check(const std::string& text, const std::string& calls, KernelStore* store = nullptr) {
        ReachReport report = report_of(text, calls, store);
        EXPECT_THAT(report.failures, IsEmpty()) << describe(report.failures);
        return report;
    }

    /// `settable`: hosts may set globals.
    ReachReport report_of(const std::string& text, const std::string& calls, KernelStore* store = nullptr,
                          bool settable = false) {
        const std::filesystem::path path = folder_.write("shading.slang", text);
        const std::string spec_text = R"({"version": 1, "name": "s", "modules": [")" + path.string() +
                                      R"("], "calls": [)" + calls + "]}";
        Outcome<Spec> spec = parse_spec(spec_text, "s.kf.json");
        if (!spec) return {spec.errors(), {}};
        CompilerOptions options;
        options.search_paths = {folder_.path()};
        auto compiler = make_slang_compiler(options, support_modules(), started_slang());
        const Outcome<Module> module = compiler.value()->reflect({path});
        if (!module) return {module.errors(), {}};
        const Outcome<Plan> plan = resolve(spec.value(), module.value(), compiler.value().get());
        if (!plan) return {plan.errors(), {}};
        const auto globals = settable ? module.value().globals : std::vector<GlobalParameter>();
        const std::vector<SourceFile> sources{{"shading.slang", text}};
        const CodeKeys keys("environment", {{CodeTarget::spirv, sources}, {CodeTarget::cuda_source, sources}},
                            {});
        ReachReport report = check_reach(plan.value(), {targets_, store, &keys, globals}, *compiler.value());
        names_.clear();
        for (const PlannedFunction& function : plan.value().functions) {
            for (const PlannedCall& call : function.calls) {
                std::string names = function.name + ":";
                for (const GlobalParameter& global : globals) {
                    const std::vector<Location>& places = report.globals[&call];
                    if (std::find(places.begin(), places.end(), global.location) != places.end())
                        names += " " + global.module + "." + global.name;
                }
                names_.push_back(names);
            }
        }
        return report;
    }

    /// "global-parameter bias shading.slang:3", sorted by the calls; the name is what the message quotes or
    /// reaches.
    static std::vector<std::string> short_texts(const Diagnostics& errors) {
        std::vector<std::string> texts;
        for (const Diagnostic& error : errors) {
            std::string name = error.message.substr(error.message.find("reaches ") + 8);
            if (error.message.find(" is ") < error.message.find("reaches "))
                name = error.message.substr(1, error.message.find('\'', 1) - 1);
            texts.push_back(error.id + " " + name.substr(0, name.find(':')) + " " +
                            std::filesystem::path(error.location.file).filename().string() + ":" +
                            std::to_string(error.location.line));
        }
        return texts;
    }

    ScratchFolder folder_;
    std::vector<CodeTarget> targets_{GetParam()};
    std::vector<std::string> names_;  ///< the globals that each call reaches: "lit: shading.gain"
};

INSTANTIATE_TEST_SUITE_P(Targets, ReachTest, testing::Values(CodeTarget::spirv, CodeTarget::cuda_source),
                         [](const testing::TestParamInfo<CodeTarget>& target) {
                             return target.param == CodeTarget::spirv ? "Spirv" : "Cuda";
                         });

constexpr const char* paint = R"(module paint;
public namespace paint { uniform float exposure; public float expose(float x) { return x * exposure; }
public static const float3 weights = float3(0.2126, 0.7152, 0.0722); }
)";

// The global that one function reads says nothing of what the others reach on the second target.
TEST_P(ReachTest, EachTargetIsLookedAt) {
    targets_.push_back(GetParam() == CodeTarget::spirv ? CodeTarget::cuda_source : CodeTarget::spirv);
    const std::string text = R"(float gain;
float low;
static int drawn = 0;
float lit(float x) { return x * gain; }
float counted(float x)
{
    __target_switch
    {
    case cuda: ++drawn; return x * drawn;
    default: return x;
    }
}
float floored(float x)
{
    __target_switch
    {
    case cuda: return x * gain;
    default: return x * low;
    }
}
)";
    Store store;
    for (int i = 0; i < 2; ++i) {
        const ReachReport report = report_of(text,
                                             R"({"function": "lit", "args": {"x": "value"}},
                                                {"function": "counted", "args": {"x": "value"}},
                                                {"function": "floored", "args": {"x": "value"}})",
                                             &store, true);
        EXPECT_THAT(short_texts(report.errors), ElementsAre("mutable-static drawn shading.slang:3"))
            << describe(report.errors);
        EXPECT_THAT(names_, UnorderedElementsAre("lit: shading.gain",
                                                 "counted:", "floored: shading.gain shading.low"));
    }
}

// The counter has a type of another file, which kfgen doesn't know.
TEST_P(ReachTest, LoopsThatStartAtComputedValuesAreNamed) {
    (void)folder_.write("counts.slang", "module counts;\npublic typealias Count = int;\n");
    const ReachReport report =
        report_of(R"(import counts;
[Differentiable]
float grow(float x, int n)
{
    float y = x;
    [MaxIters(8)]
    for (Count i = n; i < 8; ++i) y *= x;
    return y;
}
)",
                  R"({"function": "grow", "args": {"x": "value", "n": "value"}, "backward": true})");
    const Diagnostics& found = GetParam() == CodeTarget::spirv ? report.failures : report.errors;
    ASSERT_EQ(found.size(), 1U) << describe(found);
    EXPECT_EQ(found[0].id, "slang-loop-start");
    EXPECT_THAT(found[0].location.file, testing::EndsWith("shading.slang"));
    EXPECT_EQ(found[0].location.line, 7);
    EXPECT_THAT(found[0].message, HasSubstr("of 'grow', which starts at a value that is computed"));
    EXPECT_THAT(found[0].notes, Contains(HasSubstr("start at 0 and add")));
}

TEST_P(ReachTest, EveryFormOfGlobalParameterIsNamedWhereItIsDeclared) {
    (void)folder_.write("paint.slang", paint);
    (void)folder_.write("included.h", "uniform float haze;\n");
    const ReachReport report = check(R"(import paint;
#include "included.h"
uniform float3x3 frames[2];
float threshold = 0.5;
cbuffer Camera { float4 eye; float near_plane; }
struct Wood { float rings; StructuredBuffer<float> bark; }
ParameterBlock<Wood> wood;
ConstantBuffer<Wood> oak;
[[vk::push_constant]] ConstantBuffer<float2> jitter;
RWStructuredBuffer<float> histogram;
ByteAddressBuffer bytes;
Texture2D<float> maps[3];
SamplerState edge;
Wood grain;
interface IShade { [Differentiable] float shade(float x); }
struct Flat : IShade { float k; [Differentiable] float shade(float x) { return x * k * threshold; } }
[Differentiable] float shaded<S : IShade>(no_diff S s, float x) { return s.shade(x); }
float near(float x) { return x - near_plane; }
float hazy(float x) { return x * haze; }
float framed(float3 v) { return mul(frames[1], v).x; }
float wooden(float x, int i) { return x * wood.bark[i]; }
float oaken(float x) { return x * oak.rings; }
float grained(float x, int i) { return grain.bark[i] + x; }
float jittered(float x) { return x + jitter.y; }
float count(float x) { histogram[int(x)] = 1; return x; }
float raw(int i) { return bytes.Load<float>(4 * i); }
float sampled(float2 uv, int i) { return maps[i].SampleLevel(edge, uv, 0); }
float exposed(float x) { return paint.expose(x) * paint.weights.x; }
void scale_bwd(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, d * eye.y); }
[BackwardDerivative(scale_bwd)] float scale(float x) { return 2 * x; }
)",
                                     R"(
        {"function": "shaded", "args": {"s": {"kind": "value", "as": "Flat"}, "x": ["value", "tensor[1]"]}, "backward": true, "forward_diff": true},
        {"function": "near", "args": {"x": "value"}}, {"function": "hazy", "args": {"x": "value"}},
        {"function": "framed", "args": {"v": "value"}}, {"function": "wooden", "args": {"x": "value", "i": "value"}},
        {"function": "oaken", "args": {"x": "value"}}, {"function": "grained", "args": {"x": "value", "i": "value"}},
        {"function": "jittered", "args": {"x": "value"}}, {"function": "count", "args": {"x": "value"}},
        {"function": "raw", "args": {"i": "value"}}, {"function": "sampled", "args": {"uv": "value", "i": "value"}},
        {"function": "exposed", "args": {"x": "value"}}, {"function": "scale", "args": {"x": "value"}, "backward": true})");
    std::vector<std::string> expected = {
        "global-parameter threshold shading.slang:4",  "global-parameter near_plane shading.slang:5",
        "global-parameter haze included.h:1",          "global-parameter frames shading.slang:3",
        "global-parameter wood shading.slang:7",       "global-parameter oak shading.slang:8",
        "global-parameter grain shading.slang:14",     "global-parameter jitter shading.slang:9",
        "global-parameter histogram shading.slang:10", "global-parameter bytes shading.slang:11",
        "global-parameter maps shading.slang:12",      "global-parameter exposure paint.slang:2",
        "global-parameter eye shading.slang:5"};
    // A texture's handle holds its sampler in CUDA.
    if (GetParam() == CodeTarget::spirv) expected.emplace_back("global-parameter edge shading.slang:13");
    EXPECT_THAT(short_texts(report.errors), testing::UnorderedElementsAreArray(expected))
        << describe(report.errors);
    const auto error_about = [&](const std::string& name) {
        for (const Diagnostic& error : report.errors)
            if (error.message.starts_with("'" + name + "'")) return error;
        return Diagnostic{};
    };
    EXPECT_THAT(error_about("threshold").notes, Contains(HasSubstr("leaves its value out")));
    EXPECT_EQ(error_about("threshold").location.column, 7);
    EXPECT_THAT(error_about("threshold").notes,
                Contains(HasSubstr("called as 'shaded<Flat>' at s.kf.json:2:")));
    EXPECT_THAT(error_about("exposure").notes,
                Contains(testing::AllOf(HasSubstr("expose'"), HasSubstr("paint.slang:2"))));
}

TEST_P(ReachTest, WhatIsNotReachedAndWhatIsConstantMayBeThere) {
    (void)folder_.write("paint.slang", paint);
    const ReachReport report = check(R"(import paint;
import kf;
uniform float4 unused;
RWStructuredBuffer<float> log_of_frames;
static int drawn = 0;
groupshared float tile[64];
static float3 up = { 0, 1, 0 };
static const float2 corners[2] = { float2(0, 1), float2(2, 3) };
static const float length_of_up = length(float3(0, 3, 4));
static float doubled = length_of_up * 2;
float never(float x) { ++drawn; tile[drawn] = unused.x; log_of_frames[0] = x; return WaveActiveSum(tile[0]); }
float lit(float x, int i)
{
    static float steps[3] = { 0.25, 0.5, 1 };
    static const int half_way = 1;
    return steps[i] * corners[i % 2].y + dot(up, paint.weights) * doubled + steps[half_way] * x;
}
[Differentiable] float gathered(DiffTensor<float, 1> t, int i, float x)
{
    return t.load_uniform(i) * x + t.load_once(i + 1) + t[i];
}
void scattered(AtomicTensor<float, 1> t, int i, float x) { t.add(i, x); int at[1] = { i }; t.add_uniform(at, x); }
)",
                                     R"(
        {"function": "lit", "args": {"x": "tensor[1]", "i": "value"}},
        {"function": "gathered", "args": {"t": "tensor[1]", "i": "value", "x": "tensor[1]"}, "backward": true},
        {"function": "scattered", "args": {"t": "tensor[1]", "i": "value", "x": "tensor[1]"}})");
    EXPECT_THAT(report.errors, IsEmpty()) << describe(report.errors);
}

TEST_P(ReachTest, StaticVariablesThatFunctionsChange) {
    const ReachReport report = check(R"(static uint state;
struct Dice { static int thrown = 0; int sides; [mutating] int roll() { ++thrown; return thrown % sides; } }
namespace marks { static float2 highest[2]; }
static bool ready = false;
uint draw() { state = state * 747796405u + 2891336453u; return state; }
float noise(float x) { return x * float(draw()); }
int rolled(int sides) { Dice d = { sides }; return d.roll(); }
T kept<T : __BuiltinFloatingPointType>(T x)
{
    static T first = x;
    return first;
}
void raise(inout float2 mark, float x) { mark.y = max(mark.y, x); }
float highest(float x) { raise(marks.highest[1], x); return marks.highest[1].y; }
float once(float x) { if (!ready) { ready = true; return 0; } return x; }
)",
                                     R"(
        {"function": "noise", "args": {"x": "value"}}, {"function": "rolled", "args": {"sides": "value"}},
        {"function": "kept<float>", "args": {"x": "tensor[1]"}}, {"function": "highest", "args": {"x": "value"}},
        {"function": "once", "args": {"x": "value"}})");
    EXPECT_THAT(short_texts(report.errors), UnorderedElementsAre("mutable-static state shading.slang:1",
                                                                 "mutable-static thrown shading.slang:2",
                                                                 "mutable-static first shading.slang:10",
                                                                 "mutable-static highest shading.slang:3",
                                                                 "mutable-static ready shading.slang:4"))
        << describe(report.errors);
}

TEST_P(ReachTest, WhatDependsOnThreads) {
    const ReachReport report = check(R"(#define MINE(x) WaveReadLaneFirst(x)
groupshared int bins[32];
int binned(int i) { InterlockedAdd(bins[i], 1); return bins[i]; }
float fenced(float x) { AllMemoryBarrierWithGroupSync(); return x; }
float first(float x) { return MINE(x); }
interface IFold { float fold(float x); }
struct Sum : IFold { int kept; float fold(float x) { return WavePrefixSum(x); } }
float folded<F : IFold>(F f, float x) { return f.fold(x); }
float beside(float x) { return QuadReadAcrossX(x); }
float sized(float x) { return x * (WorkgroupSize().x * 2); }
uint timed(uint x) { return x + getRealtimeClockLow(); }
uint lane(uint x) { return x + WaveGetLaneIndex(); }
)",
                                     R"(
        {"function": "binned", "args": {"i": "value"}}, {"function": "fenced", "args": {"x": "value"}},
        {"function": "first", "args": {"x": "value"}}, {"function": "beside", "args": {"x": "value"}},
        {"function": "folded<Sum>", "args": {"f": {"kind": "value", "as": "Sum"}, "x": "value"}},
        {"function": "sized", "args": {"x": "value"}}, {"function": "timed", "args": {"x": "value"}},
        {"function": "lane", "args": {"x": "value"}})");
    std::vector<std::string> ids;
    std::vector<std::int64_t> lines;
    for (const Diagnostic& error : report.errors) {
        ids.push_back(error.id);
        EXPECT_THAT(error.location.file, HasSubstr("shading.slang")) << describe({error});
        lines.push_back(error.location.line);
    }
    EXPECT_THAT(ids, testing::Each("thread-dependent"));
    EXPECT_THAT(std::set<std::int64_t>(lines.begin(), lines.end()), ElementsAre(2, 4, 5, 7, 9, 10, 11, 12))
        << describe(report.errors);
}

TEST_P(ReachTest, OneErrorForWhatManyCallsReach) {
    const ReachReport report = check(
        "uniform float fog;\nfloat near(float x) { return x * fog; }\n"
        "float far(float x) { return near(x) * fog; }\n",
        R"({"function": "near", "args": {"x": ["value", "tensor[1]"]}},
                                        {"function": "far", "args": {"x": "value"}},
                                        {"function": "far", "name": "farther", "args": {"x": "tensor[2]"}})");
    ASSERT_EQ(report.errors.size(), 1U) << describe(report.errors);
    EXPECT_THAT(report.errors.front().notes, Contains(HasSubstr("called as 'near'")));
    EXPECT_THAT(report.errors.front().notes, Contains(HasSubstr("called as 'far'")));
}

TEST_P(ReachTest, TheStoreKeepsWhatFoundNothingAndNoErrors) {
    Store store;
    const std::string calls = R"({"function": "f", "args": {"x": "value"}})";
    EXPECT_THAT(check("float f(float x) { return x; }", calls, &store).errors, IsEmpty());
    EXPECT_EQ(store.kept.size(), 1U);
    EXPECT_THAT(check("float f(float x) { return x; }", calls, &store).errors, IsEmpty());
    EXPECT_EQ(store.hits, 1);
    Store other;
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(check("float g; float f(float x) { return x + g; }", calls, &other).errors.size(), 1U);
    EXPECT_TRUE(other.kept.empty());
}

TEST_P(ReachTest, GlobalsOfImportedModulesAreFoundWhereTheyAreDeclared) {
    (void)folder_.write("fog.slang",
                        "cbuffer Fog { float density; float gain; }\n"
                        "float foggy(float x) { return x * density * gain; }\n");
    const ReachReport report = report_of(R"(import fog;
float3 sun;
namespace sky { float glow; }
uniform float density;
groupshared float tile[4];
static float fixed = 2;
float seen(float x) { return x * sun.y * sky.glow * fixed; }
float far(float x) { return foggy(x); }
)",
                                         R"({"function": "seen", "args": {"x": "value"}},
                                            {"function": "far", "args": {"x": "value"}})",
                                         nullptr, true);
    EXPECT_THAT(report.errors, IsEmpty()) << describe(report.errors);
    EXPECT_THAT(names_,
                UnorderedElementsAre("seen: shading.sun shading.sky.glow", "far: fog.density fog.gain"));
}

TEST_P(ReachTest, TheStoreKeepsGlobalsThatHostsSet) {
    const std::string calls =
        R"({"function": "f", "args": {"x": "value"}}, {"function": "h", "args": {"x": "value"}},
                                 {"function": "plain", "args": {"x": "value"}})";
    const std::string text =
        "float g; float e; float f(float x) { return x + g; } float h(float x) { return x - e; }"
        "float plain(float x) { return x; }";
    Store store;
    for (const int hits : {0, 3}) {
        store.hits = 0;
        EXPECT_THAT(report_of(text, calls, &store, true).errors, IsEmpty());
        EXPECT_THAT(names_, UnorderedElementsAre("f: shading.g", "h: shading.e", "plain:"));
        // Each function has an entry of its own: an edit of one leaves the others'.
        EXPECT_EQ(store.hits, hits);
        EXPECT_EQ(store.kept.size(), 3U);
    }
    // What may not be set is an error as ever.
    EXPECT_EQ(report_of(text, calls, &store).errors.size(), 2U);
}

}  // namespace
}  // namespace kf::gen
