// `kfgen init` with the real Slang: what it writes generates as it stands.
#include "run/starter.h"

#include <gmock/gmock.h>

#include "run/session.h"
#include "support/support_modules.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* module_text = R"slang(import kf;
[Differentiable]
float3 blend(float3 a, float3 b, float t) { return a + (b - a) * t; }
float scale(float x) { return 2 * x; }
float scale(float2 x) { return 2 * x.x; }
T first<T : IFloat, let N : int>(vector<T, N> v) { return v[0]; }
interface IShape { float area(); }
struct Circle : IShape { float r; float area() { return r * r; } [mutating] void grow(float by) { r += by; } };
float area_of(IShape s) { return s.area(); }
void fill(Tensor<float, 2> t, RWTensor<float, 1> o) { o[0] = t[0, 0]; }
void parts(float x, out float s, out float c) { s = sin(x); c = cos(x); }
float pixel(Texture2D<float4> t, SamplerState s, float2 uv) { return t.SampleLevel(s, uv, 0).x; }
static int count = 0;
int next(int by) { count += by; return count; }
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, RWStructuredBuffer<float> y) { y[id.x] = 1; }
[shader("fragment")] float4 shade() : SV_Target { return 1; }
)slang";

class StarterTest : public testing::Test {
protected:
    StarterTest() {
        options_.command = Command::init;
        options_.module = folder_.write("my-colors.slang", module_text);
    }

    ScratchFolder folder_;
    DiskFileSystem disk_;
    Options options_;
};

TEST_F(StarterTest, WritesWhatGeneratesAsItStands) {
    const Outcome<Starter> starter = make_starter(options_, disk_);
    ASSERT_TRUE(starter) << describe(starter.errors());
    EXPECT_EQ(starter.value().path, folder_.path() / "my-colors.kf.json");
    const std::string& text = starter.value().text;
    EXPECT_THAT(text, AllOf(HasSubstr(R"(
    // float3 blend(float3 a, float3 b, float t), line 3; differentiable
    {
      "function": "blend",
      "args": {"a": "tensor[1]", "b": ["value", "tensor[1]"], "t": ["value", "tensor[1]"]},
      "backward": true
    },
    // float scale(float x), line 4; not differentiable
    {
      "function": "scale",
      "args": {"x": "tensor<float>[1]"}
    },
)"),
                            HasSubstr(R"(
    // generic: this is one instance
    {
      "function": "first<float, 3>",
      "args": {"v": "tensor[1]"}
    },
)"),
                            HasSubstr(R"(
      "function": "Circle.grow",
      "this": "tensor[1]",
      "args": {"by": "tensor[1]"}
)"),
                            HasSubstr(R"("args": {"t": "tensor[2]", "o": "tensor[1]"})"),
                            HasSubstr(R"("args": {"x": "tensor[1]", "s": "auto", "c": "auto"})"),
                            HasSubstr(R"("args": {"t": "texture2d", "s": "sampler", "uv": "tensor[1]"})"),
                            HasSubstr(R"("args": {"y": "rwbuffer"})"), HasSubstr(R"(
  // Can't be called as they are:
  //   float area_of(IShape s), line 9: argument 's': 'IShape' is an interface, so its kind must name a type
  //   int next(int by), line 14: 'count' is a static variable that 'next' changes: its results would depend on the calls that a thread made before
  //   float4 shade(), line 17: it is an entry point, and none of a compute shader
})")));
    Options options;
    options.command = Command::list;
    options.spec = folder_.write("my-colors.kf.json", text);
    const Outcome<Spec> spec = load_spec(options, disk_);
    ASSERT_TRUE(spec) << describe(spec.errors());
    EXPECT_EQ(spec.value().name, "my_colors");
    const std::unique_ptr<Compiler> compiler =
        make_compiler(compiler_options(spec.value(), options), support_modules());
    const Outcome<Planned> planned = plan_spec(spec.value(), *compiler);
    EXPECT_TRUE(planned) << describe(planned.errors());
}

TEST_F(StarterTest, ListsNoFunctionsThatWereAdded) {
    options_.module = folder_.write("held.slang", R"(
float3 scaled(float3 x) { return 2 * x; }
[Differentiable]
float f(float x, int n)
{
    float3 values[2];
    values[n] = no_diff(scaled(float3(x)));
    values[1 - n] = x;
    return values[n].x + fmod(values[1].y, 2);
})");
    const Outcome<Starter> starter = make_starter(options_, disk_);
    ASSERT_TRUE(starter) << describe(starter.errors());
    EXPECT_THAT(starter.value().text,
                AllOf(HasSubstr("\"f\""), HasSubstr("\"scaled\""), Not(HasSubstr("kf_"))));
}

TEST_F(StarterTest, KeepsToPathsOfTheSpecsFolder) {
    (void)folder_.write("plain.slang", "int f(int x) { return x + HERE; }");
    options_.module = folder_.path() / "plain.slang";
    options_.output = folder_.path() / "specs" / "other.kf.json";
    options_.defines = {{"HERE", "1"}};
    options_.include_directories = {"lib"};
    const Outcome<Starter> starter = make_starter(options_, disk_);
    ASSERT_TRUE(starter) << describe(starter.errors());
    EXPECT_EQ(starter.value().path, options_.output);
    EXPECT_THAT(starter.value().text,
                AllOf(HasSubstr("\"name\": \"other\""), HasSubstr(R"("defines": {"HERE": "1"},)"),
                      HasSubstr("\"search_paths\": [\""), Not(HasSubstr("called as they are"))));
}

TEST_F(StarterTest, NamesNoNamespaceThatCppHas) {
    for (const std::string name : {"gamma", "def", "double"}) {
        options_.module = folder_.write(name + ".slang", "float f(float x) { return x; }");
        const Outcome<Starter> starter = make_starter(options_, disk_);
        ASSERT_TRUE(starter) << describe(starter.errors());
        EXPECT_THAT(starter.value().text, HasSubstr("\"name\": \"my_" + name + "\""));
    }
}

TEST_F(StarterTest, RefusesWhatItCantStartFrom) {
    const auto refused = [&] {
        const Outcome<Starter> starter = make_starter(options_, disk_);
        return starter ? std::string() : format_text(starter.errors().front());
    };
    (void)folder_.write("my-colors.kf.json", "mine");
    EXPECT_THAT(
        refused(),
        HasSubstr("my-colors.kf.json: error: there is such a file, and 'kfgen init' would replace it "
                  "[init-file-exists]\n    note: --force replaces it, -o FILE writes another one, and "
                  "-o - prints the spec"));
    options_.module = folder_.path() / "my-colors.kf.json";
    EXPECT_THAT(refused(),
                HasSubstr("my-colors.kf.json: error: 'kfgen init' takes a Slang module, NAME.slang "
                          "[init-not-a-module]"));
    options_.module = folder_.path() / "none.slang";
    EXPECT_THAT(refused(), HasSubstr("[file-not-found]"));
    options_.module =
        folder_.write("closed.slang", "interface I { float a(); }\nfloat f(I x) { return x.a(); }");
    options_.output = "-";
    EXPECT_THAT(refused(), HasSubstr("closed.slang: error: none of the module's functions can be called "
                                     "[init-no-functions]\n    note: float f(I x), line 2: argument 'x': 'I' "
                                     "is an interface, so its kind must name a type"));
}

}  // namespace
}  // namespace kf::gen
