// Parameters with SV_ semantics, in modules that the real Slang reflects.
#include <gmock/gmock.h>

#include "plan/resolve.h"
#include "spec/parse.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::HasSubstr;

TEST(SystemValues, AreForEntryPoints) {
    const ScratchFolder folder;
    const std::filesystem::path path =
        folder.write("shading.slang", R"(struct Pixel { float4 place : SV_Position; }
float4 moved(Pixel p, float by) { return p.place * by; }
namespace grid { T shifted<T : __BuiltinFloatingPointType>(T x, uint3 thread : SV_DispatchThreadID,
    uint lane : sv_groupindex) { return x + T(thread.x + lane); } }
float uncalled(uint3 id : SV_GroupID) { return id.x; }
)");
    const Outcome<Spec> spec =
        parse_spec(R"({"version": 1, "name": "s", "modules": [")" + path.string() + R"("], "calls": [
        {"function": "moved", "args": {"p": "value", "by": "value"}},
        {"function": "grid.shifted<float>", "args": {"x": "tensor[1]"}}]})",
                   "s.kf.json");
    ASSERT_TRUE(spec) << describe(spec.errors());
    auto compiler = make_compiler();
    const Outcome<Module> module = compiler->reflect({path});
    ASSERT_TRUE(module) << describe(module.errors());
    const Outcome<Plan> plan = resolve(spec.value(), module.value(), compiler.get());
    ASSERT_FALSE(plan);
    const Diagnostics& errors = plan.errors();
    ASSERT_EQ(errors.size(), 2U) << describe(errors);
    for (const Diagnostic& error : errors) EXPECT_EQ(error.id, "system-value");
    EXPECT_THAT(errors[0].message,
                HasSubstr("'thread' of 'grid.shifted' is declared as SV_DISPATCHTHREADID"));
    EXPECT_EQ(errors[0].location.line, 3);
    EXPECT_EQ(errors[1].location.line, 4);
    EXPECT_EQ(errors[1].location.column, 10);
}

}  // namespace
}  // namespace kf::gen
