// Tests which functions a module keeps to itself.
#include "slang/function_access.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kf::gen {
namespace {

TEST(FunctionAccess, WhatMakesAModuleKeepThingsToItself) {
    for (const char* text :
         {"public float g(float x) { return x; }", "internal float g() { return 1; }",
          "struct S { private float a; };", "module some;", "// of all\nmodule some;", "implementing some;",
          "float f();\n__include part;", "#language slang 2026\nfloat f();"}) {
        EXPECT_TRUE(keeps_to_itself(text)) << text;
    }
    for (const char* text : {"float f(float x) { return x; }", "", "#if SOME\npublic float g();\n#endif",
                             "#ifdef SOME\n#language slang 2026\n#endif", "// public\nfloat f();",
                             "float f(float module) { return module; }", "#include \"public.slang\""}) {
        EXPECT_FALSE(keeps_to_itself(text)) << text;
    }
}

/// Tells whether the first `f` of the text is closed.
bool is_closed(const std::string& text, const std::string& other = "") {
    const std::size_t at = text.find(" f(") + 1;
    const auto begin = text.begin();
    const auto line = 1 + std::count(begin, begin + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t line_start = text.rfind('\n', at) + 1;  // 0 where there is none
    Module module;
    module.functions.resize(1);
    module.functions[0].location = {"/m.slang", line, static_cast<std::int64_t>(at - line_start + 1)};
    module.modules.resize(1);
    module.modules[0].functions = module.functions;
    module.sources = {{"/m.slang", text}, {"/other.slang", other}};
    mark_closed(module);
    EXPECT_EQ(module.functions[0].is_closed, module.modules[0].functions[0].is_closed) << text;
    return module.functions[0].is_closed;
}

TEST(FunctionAccess, WhatIsNotPublicIsClosed) {
    EXPECT_TRUE(is_closed("module m;\nfloat f(float x) { return x; }"));
    EXPECT_TRUE(
        is_closed("public float g() { return 1; }\n[Differentiable]\nfloat f(float x) { return x; }"));
    EXPECT_TRUE(is_closed("module m;\npublic struct S { float a; float f(float x) { return a; } }"));
    EXPECT_TRUE(is_closed("module m;\npublic extension S { float f(float x) { return a; } }"));
    EXPECT_TRUE(is_closed("module m;\npublic namespace n { float f(float x) { return x; } }"));
    EXPECT_TRUE(is_closed("module m;\npublic struct n::S { float f(float x) { return x; } }"));
    EXPECT_TRUE(is_closed("module m;\npublic float g; float f(float x) { return x; }"));
}

TEST(FunctionAccess, EntryPointsAreOpen) {
    EXPECT_FALSE(is_closed("module m;\n[shader(\"compute\")] [numthreads(1, 1, 1)]\nvoid f() {}"));
    EXPECT_FALSE(is_closed("public int g;\n[CUDAKernel] void f() {}"));
    EXPECT_TRUE(is_closed("module m;\n[CUDAKernel] internal void f() {}"));
}

TEST(FunctionAccess, WhatIsPublicOrMayBeIsOpen) {
    EXPECT_FALSE(is_closed("float f(float x) { return x; }"));
    EXPECT_FALSE(is_closed("module m;\npublic float f(float x) { return x; }"));
    EXPECT_FALSE(is_closed("module m;\npublic [Differentiable] __generic<T>\nT f(T x) { return x; }"));
    EXPECT_FALSE(is_closed("module m;\n[Differentiable] public\nfloat f(float x) { return x; }"));
    EXPECT_FALSE(is_closed("module m;\npublic struct S : I { float f(float x) { return x; } }"));
    EXPECT_FALSE(is_closed("module m;\npublic interface I { float f(float x); }"));
    EXPECT_FALSE(is_closed("module m;\n#define API public\nAPI float f(float x) { return x; }"));
    EXPECT_FALSE(is_closed("module m;\nAPI float f(float x) { return x; }", "# define API public"));
}

}  // namespace
}  // namespace kf::gen
