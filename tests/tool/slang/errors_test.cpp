// Wrong input: every error has an id and a place, and the compiler goes on afterwards.
#include <gmock/gmock.h>

#include "slang/workarounds/nested_loops.h"
#include "slang/workarounds/scalar_parameters.h"
#include "slang/workarounds/while_loops.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;

const std::string entry_point = "[shader(\"compute\")] [numthreads(1, 1, 1)]\n";

KernelSource good_kernel() {
    return {"k",
            "struct Args { float* x; }\n" + entry_point + "void k(uniform Args args) { args.x[0] = 1; }\n",
            {}};
}

Diagnostics compile_errors(const std::string& text, CodeTarget target = CodeTarget::spirv) {
    const auto compiler = make_compiler();
    const Outcome<CompiledKernel> compiled = compiler->compile({"k", text, {"/spec.kf.json", 7, 3}}, target);
    EXPECT_FALSE(compiled.ok());
    // A failure leaves the compiler usable.
    EXPECT_TRUE(compiler->compile(good_kernel(), target).ok());
    return compiled.ok() ? Diagnostics{{}} : compiled.errors();
}

TEST(SlangErrors, InTheUsersModule) {
    const ScratchFolder folder;
    const auto file =
        folder.write("bad.slang", "float f(float a)\n{\n    int x = a.foo;\n    return y;\n}\n");
    const auto compiler = make_compiler();
    const Outcome<Module> module = compiler->reflect({file});
    ASSERT_FALSE(module.ok());
    ASSERT_EQ(module.errors().size(), 2U) << describe(module.errors());
    EXPECT_EQ(module.errors()[0].id, "slang-E30027");
    EXPECT_EQ(module.errors()[0].location, (Location{file.string(), 3, 15}));
    EXPECT_THAT(module.errors()[0].message, HasSubstr("'foo' is not a member of 'float'"));
    EXPECT_EQ(module.errors()[1].id, "slang-E30015");
    EXPECT_EQ(module.errors()[1].location, (Location{file.string(), 4, 12}));
    EXPECT_TRUE(compiler->reflect({folder.write("good.slang", "float f() { return 1; }\n")}).ok());
}

TEST(SlangErrors, WhatIsNotPublicIsSaidOnce) {
    const ScratchFolder folder;
    const auto compiler = make_compiler();
    const auto module = folder.write("some.slang",
                                     "#define FUNCTION(name) float name(float x)\n"
                                     "public FUNCTION(g) { return x; }\nFUNCTION(f) { return g(x); }\n");
    ASSERT_TRUE(compiler->reflect({module}).ok());
    Diagnostics first;
    for (const std::string body : {"args.x[0] = f(1); args.x[1] = f(2);", "args.x[2] = f(3);"}) {
        const Outcome<CompiledKernel> compiled =
            compiler->compile({"k",
                               "import some;\nstruct Args { float* x; }\n" + entry_point +
                                   "void k(uniform Args args) { " + body + " }\n",
                               {"/spec.kf.json", 7, 3}},
                              CodeTarget::spirv);
        ASSERT_FALSE(compiled.ok());
        ASSERT_EQ(compiled.errors().size(), 1U) << describe(compiled.errors());
        EXPECT_THAT(compiled.errors()[0].message, HasSubstr("'f' is not accessible"));
        EXPECT_THAT(compiled.errors()[0].notes, testing::ElementsAre(HasSubstr("mark it public")));
        if (first.empty()) first = compiled.errors();
        EXPECT_EQ(compiled.errors(), first) << "so that one of several kernels' is shown";
    }
}

TEST(SlangErrors, WhatKernelsCantNameIsListed) {
    const ScratchFolder folder;
    const auto file = folder.write("some.slang",
                                   "internal struct Part { float x; }\n"
                                   "public struct Whole { Part part; public float y; }\n"
                                   "public float f(Whole w) { return w.part.x + w.y; }\n");
    const Outcome<Module> module = make_compiler()->reflect({file});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    EXPECT_EQ(module.value().closed_fields,
              (std::vector<HiddenField>{{"Whole", "part", {file.string(), 2, 28}}}));
}

// A function that another module could call instead of its own, and what it calls stays the same.
TEST(SlangErrors, ModulesMeanWhatTheyMeant) {
    const ScratchFolder folder;
    const auto lib = folder.write("lib.slang", "module lib;\nint sq(int x) { return x; }\n");
    const auto file = folder.write(
        "app.slang", "import lib;\nfloat sq(float x) { return x * x; }\nfloat f() { return sq(3); }\n");
    const Outcome<Module> module = make_compiler()->reflect({file, lib});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    std::vector<bool> closed;
    for (const Function& function : module.value().functions) {
        if (function.name == "sq") closed.push_back(function.is_closed);
    }
    EXPECT_THAT(closed, testing::UnorderedElementsAre(false, true));
}

// They are opened to kernels alone.
TEST(SlangErrors, ClosedFieldsAreClosedToOtherModules) {
    const ScratchFolder folder;
    (void)folder.write("lib.slang", "module lib;\npublic struct S { float a; public float b; }\n");
    const auto file = folder.write("app.slang", "import lib;\npublic float f(S s) { return s.b + s.a; }\n");
    const Outcome<Module> module = make_compiler()->reflect({file});
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.errors()[0].id, "slang-E30600");
    EXPECT_EQ(module.errors()[0].location, (Location{file.string(), 2, 38}));
}

// By all that makes a module keep to itself what isn't public.
TEST(SlangErrors, KernelsNameWhatModulesKeepToThemselves) {
    const ScratchFolder folder;
    (void)folder.write("part.slang", "implementing some;\nfloat g(float x) { return x; }\n");
    for (const std::string first :
         {"public float g(float x) { return x; }", "internal float g(float x) { return x; }", "module some;",
          "__include part;", "#language slang 2026", ""}) {
        const auto module = folder.write("some.slang", first + "\nfloat f(float x) { return x; }\n");
        const auto compiler = make_compiler();
        ASSERT_TRUE(compiler->reflect({module}).ok()) << first;
        const Outcome<CompiledKernel> compiled =
            compiler->compile({"k",
                               "import some;\nstruct Args { float* x; }\n" + entry_point +
                                   "void k(uniform Args args) { args.x[0] = f(1); }\n",
                               {"/spec.kf.json", 7, 3}},
                              CodeTarget::spirv);
        EXPECT_TRUE(compiled.ok()) << first << describe(compiled.errors());
    }
}

// What a macro writes is not changed.
TEST(SlangErrors, DifferentiableLoopsInWhile) {
    const std::string inner = "[MaxIters(3)] for (int j = 0; j < 3; ++j) x += sin(x); ";
    const auto text = [&](const std::string& outer) {
        return "#define LOOP while (i < 2)\n[Differentiable] float f(float x) { int i = 0; [MaxIters(2)] " +
               outer + " { " + inner + "i++; } return x; }\nstruct Args { float* x; }\n" + entry_point +
               "void k(uniform Args args) { var x = diffPair(args.x[0]); bwd_diff(f)(x, 1.0); args.x[1] = "
               "x.d; }\n";
    };
    const Diagnostics errors = compile_errors(text("LOOP"));
    ASSERT_EQ(errors.size(), has_fault(while_loops) ? 1U : 0U) << describe(errors);
    if (!errors.empty()) {
        EXPECT_THAT(errors[0].notes, Contains(HasSubstr("write 'for (; i < n;)'")));
    }
    for (const std::string outer : {"for (; i < 2;)", "while (i < 2)"}) {
        EXPECT_TRUE(make_compiler()->compile({"k", text(outer), {}}, CodeTarget::spirv).ok()) << outer;
    }
}

// A loop in a macro is not changed.
TEST(SlangErrors, ArraysOfNestedLoopsHaveExtentsInAnotherOrder) {
    const std::string text =
        "#define OUTER [MaxIters(3)] for (int i = 0; i < 3; ++i)\n[Differentiable] float f(float x) { float "
        "s = x; "
        "OUTER { [MaxIters(8)] for (int j = 0; j < 8; ++j) s = s * s * x; } return s; }\n"
        "struct Args { float* x; }\n" +
        entry_point +
        "void k(uniform Args args) { var x = diffPair(args.x[0]); bwd_diff(f)(x, 1.0); args.x[1] = x.d; }\n";
    const Outcome<CompiledKernel> kernel = make_compiler()->compile({"k", text, {}}, CodeTarget::cuda_source);
    ASSERT_TRUE(kernel.ok()) << describe(kernel.errors());
    const bool as_indexed =
        kernel.value().code.find("FixedArray<FixedArray<float, 10> , 5>") == std::string::npos ||
        kernel.value().code.find("[_pc_1][_pc_0], ") == std::string::npos;
    EXPECT_EQ(as_indexed, !has_fault(nested_loops)) << kernel.value().code;
}

TEST(SlangErrors, LoopsThatRunMoreOftenThanTheySay) {
    const ScratchFolder folder;
    const auto inner = folder.write("inner.slang",
                                    "[Differentiable] float f(float x)\n{\n    [MaxIters(8)]\n    for (int i "
                                    "= 0; i < 12; i++) x *= x;\n    return x;\n}\n");
    const auto outer = folder.write("outer.slang", "import inner;\nfloat g(float x) { return f(x); }\n");
    const Outcome<Module> module = make_compiler()->reflect({outer});
    ASSERT_FALSE(module.ok());
    ASSERT_EQ(module.errors().size(), 1U) << describe(module.errors());
    EXPECT_EQ(module.errors()[0].id, "loop-exceeds-max-iters");
    EXPECT_EQ(module.errors()[0].location, (Location{inner.string(), 4, 5}));
    EXPECT_THAT(module.errors()[0].notes, testing::ElementsAre("write [MaxIters(12)]"));
}

// A generic loop is one of these only for some of its constants.
TEST(SlangErrors, GenericLoopsThatRunMoreOftenThanTheySay) {
    const auto text = [](int count) {
        return "[Differentiable] float f<let N : int>(float x)\n{\n    [MaxIters(4)]\n    for (int i = 0; i "
               "< N; i++) { x *= x; }\n"
               "    return x;\n}\nstruct Args { float* x; }\n" +
               entry_point + "void k(uniform Args args) { args.x[0] = f<" + std::to_string(count) +
               ">(args.x[1]); }\n";
    };
    EXPECT_TRUE(make_compiler()->compile({"k", text(4), {}}, CodeTarget::spirv).ok());
    const Diagnostics errors = compile_errors(text(5));
    ASSERT_FALSE(errors.empty());
    EXPECT_THAT(errors[0].message, HasSubstr("the loop runs more often than its [MaxIters] says"));
}

TEST(SlangErrors, InAnImportedModule) {
    const ScratchFolder folder;
    const auto inner = folder.write("inner.slang", "float f() { return y; }\n");
    const auto outer = folder.write("outer.slang", "import inner;\n");
    const Outcome<Module> module = make_compiler()->reflect({outer});
    ASSERT_FALSE(module.ok());
    ASSERT_EQ(module.errors().size(), 1U) << describe(module.errors());
    EXPECT_EQ(module.errors()[0].id, "slang-E30015");
    EXPECT_EQ(module.errors()[0].location, (Location{inner.string(), 1, 20}));
}

TEST(SlangErrors, OfSeveralModules) {
    const ScratchFolder folder;
    const Outcome<Module> module =
        make_compiler()->reflect({folder.write("one.slang", "float f() { return y; }\n"),
                                  folder.write("two.slang", "float g() { return z; }\n")});
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.errors().size(), 2U) << describe(module.errors());
}

TEST(SlangErrors, MissingModuleAndImport) {
    const ScratchFolder folder;
    CompilerOptions options;
    options.search_paths = {folder.path() / "paths"};
    const auto compiler = make_compiler(options);
    const Outcome<Module> missing = compiler->reflect({folder.path() / "none.slang"});
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.errors().at(0).id, "slang-module-not-found");
    EXPECT_THAT(missing.errors().at(0).message, HasSubstr("none.slang"));
    const Outcome<Module> folder_named = compiler->reflect({folder.path()});
    ASSERT_FALSE(folder_named.ok());
    EXPECT_EQ(folder_named.errors().at(0).id, "slang-module-not-found");

    const auto file = folder.write("a.slang", "\nimport nowhere;\n");
    const Outcome<Module> import = compiler->reflect({file});
    ASSERT_FALSE(import.ok());
    ASSERT_EQ(import.errors().size(), 1U) << describe(import.errors());
    EXPECT_EQ(import.errors()[0].location, (Location{file.string(), 2, 8}));
    EXPECT_THAT(import.errors()[0].message, HasSubstr("nowhere.slang"));
    EXPECT_THAT(import.errors()[0].notes, Contains("searched: " + options.search_paths[0].string()));
    EXPECT_EQ(import.errors()[0].notes.back(),
              "further folders are named in \"search_paths\" of the spec, or by -I DIR");
}

TEST(SlangErrors, ModuleNamedLikeASupportModule) {
    const ScratchFolder folder;
    const auto compiler = make_compiler({}, {{"kf", "public float kf_one() { return 1; }\n"}});
    const Outcome<Module> module = compiler->reflect({folder.write("kf.slang", "float f() { return 1; }\n")});
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.errors().at(0).id, "slang-module-name-taken");
}

TEST(SlangErrors, InTheGeneratedKernel) {
    const Diagnostics errors =
        compile_errors("struct Args { float* x; }\n" + entry_point +
                       "void k(uniform Args args) {\n    args.x[0] = missing(1);\n}\n");
    ASSERT_EQ(errors.size(), 1U) << describe(errors);
    EXPECT_EQ(errors[0].id, "slang-E30015");
    EXPECT_EQ(errors[0].location, (Location{"/spec.kf.json", 7, 3}));
    EXPECT_THAT(errors[0].message, HasSubstr("missing"));
    EXPECT_THAT(errors[0].notes, Contains("in the generated kernel 'k', line 4: args.x[0] = missing(1);"));
}

TEST(SlangErrors, AmbiguousAndUnmatchedCallsListCandidates) {
    const Diagnostics errors = compile_errors(
        "float f(float2 a) { return 1; }\nfloat f(float3 a) { return 1; }\nstruct Args { float* x; }\n" +
        entry_point + "void k(uniform Args args) { args.x[0] = f(Args()); }\n");
    ASSERT_EQ(errors.size(), 1U) << describe(errors);
    EXPECT_THAT(errors[0].notes, Contains(HasSubstr("float3"))) << describe(errors);
}

TEST(SlangErrors, UnsizedArrayParametersOnVulkan) {
    const Diagnostics errors =
        compile_errors("float f(float x[]) { return x[1]; }\nstruct Args { float* x; }\n" + entry_point +
                       "void k(uniform Args args) { float y[]; args.x[0] = f(y); }\n");
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors[0].location, (Location{"/spec.kf.json", 7, 3}));
}

TEST(SlangErrors, EntryPointsThatBreakTheRules) {
    EXPECT_EQ(compile_errors("struct Args { float* x; }\n").at(0).id, "slang-no-entry-point");
    EXPECT_EQ(compile_errors(entry_point + "void k() {}\n").at(0).id, "slang-kernel-parameters");
    EXPECT_EQ(compile_errors(entry_point + "void k(uniform float a, uniform float b) {}\n").at(0).id,
              "slang-kernel-parameters");
    EXPECT_EQ(compile_errors(entry_point + "void k(uniform float a) {}\n").at(0).id,
              "slang-kernel-parameters");
}

TEST(SlangErrors, BrokenSupportModule) {
    const auto compiler = make_compiler({}, {{"kf", "public float kf_one() { return nothing; }\n"}});
    const Outcome<CompiledKernel> compiled = compiler->compile(good_kernel(), CodeTarget::spirv);
    ASSERT_FALSE(compiled.ok());
    EXPECT_EQ(compiled.errors().at(0).id, "slang-E30015");
}

TEST(SlangErrors, ACrash) {
    // Slang overflows its stack.
    const std::string open(200'000, '(');
    const std::string close(200'000, ')');
    const Diagnostics errors =
        compile_errors("struct Args { float* x; }\n" + entry_point +
                       "void k(uniform Args args) { args.x[0] = " + open + "1" + close + "; }\n");
    ASSERT_EQ(errors.size(), 1U) << describe(errors);
    EXPECT_EQ(errors[0].id, "slang-internal");
    EXPECT_EQ(errors[0].location, (Location{"/spec.kf.json", 7, 3}));
    EXPECT_THAT(errors[0].message, HasSubstr("crashed when compiling this call"));
    EXPECT_TRUE(errors[0].notes.empty()) << describe(errors);
}

TEST(SlangErrors, TooLittleMemory) {
    CompilerOptions options;
    options.memory_limit = 1;
    const auto compiler = make_compiler(options);
    const Outcome<CompiledKernel> compiled = compiler->compile(good_kernel(), CodeTarget::spirv);
    ASSERT_FALSE(compiled.ok());
    const Diagnostic& error = compiled.errors().at(0);
    EXPECT_EQ(error.id, "slang-memory");
    ASSERT_FALSE(error.notes.empty());
    EXPECT_THAT(error.notes.front(),
                ::testing::MatchesRegex("in the generated kernel 'k', whose own text has [1-9][0-9]* lines"));
}

TEST(SlangErrors, AScalarInALoop) {
    // A macro hides it from scalar_parameters.h.
    const std::string text =
        "struct Args { float* x; }\n"
        "#define RECURRENCE(T) [Differentiable] float3 f(T a, float3 b) { float3 s = b; "
        "[MaxIters(4)] for (int i = 0; i < 3; i++) s = s * a + b; return s; }\n"
        "RECURRENCE(float)\n" +
        entry_point +
        "void k(uniform Args args) { var a = diffPair(args.x[0]); var b = diffPair(float3(args.x[1])); "
        "bwd_diff(f)(a, b, float3(1)); args.x[2] = a.d; }\n";
    const Diagnostics errors = compile_errors(text);
    ASSERT_EQ(errors.size(), has_fault(scalar_parameters) ? 1U : 0U) << describe(errors);
    if (!errors.empty()) {
        EXPECT_EQ(errors[0].id, "slang-internal");
    }
}

TEST(SlangErrors, PlacesBehindABranchThatIsLeftOut) {
    const ScratchFolder folder;
    const auto file = folder.write("branch.slang",
                                   "#if 0\n[Differentiable] float3 f(float a, float3 b) { return a * b; }\n"
                                   "#endif\nfloat g(float a)\n{\n    return y;\n}\n");
    const Outcome<Module> module = make_compiler()->reflect({file});
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.errors().at(0).location, (Location{file.string(), 6, 12}));
}

// Where rename_scalars() breaks a module, it is loaded as it is, and errors are that one's.
TEST(SlangErrors, AModuleThatCannotBeChanged) {
    const ScratchFolder folder;
    const std::string text =
        "typealias Real = float;\nstruct V : IDifferentiable { float3 v; }\n"
        "struct S { [Differentiable] static float3 f(Real a) { return a.v * 2; }\n typealias Real = V; }\n";
    const auto compiler = make_compiler();
    const Outcome<Module> module = compiler->reflect({folder.write("good.slang", text)});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    EXPECT_EQ(module.value().functions.at(0).parameters.at(0).type.name, "V");
    for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
        const Outcome<CompiledKernel> kernel =
            compiler->compile({"k",
                               "import good;\nstruct Args { float* x; }\n" + entry_point +
                                   "void k(uniform Args args) { V v; v.v = 1; args.x[0] = S.f(v).x; }\n",
                               {}},
                              target);
        EXPECT_TRUE(kernel.ok()) << describe(kernel.errors());
    }
    const Outcome<Module> bad =
        compiler->reflect({folder.write("bad.slang", text + "float g()\n{\n    return y;\n}\n")});
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.errors().size(), 1U) << describe(bad.errors());
    EXPECT_EQ(bad.errors().at(0).location.line, 7);
}

TEST(SlangErrors, ATimeLimit) {
    CompilerOptions options;
    options.time_limit = 1ms;
    const auto compiler = make_compiler(options);
    KernelSource source = good_kernel();
    source.origin = {"/spec.kf.json", 7, 3};
    for (int round = 0; round < 2; ++round) {
        const Outcome<CompiledKernel> compiled = compiler->compile(source, CodeTarget::spirv);
        ASSERT_FALSE(compiled.ok());
        EXPECT_EQ(compiled.errors().at(0).id, "slang-timeout");
        EXPECT_EQ(compiled.errors().at(0).location, source.origin);
        EXPECT_THAT(compiled.errors().at(0).message, HasSubstr("0.001 s"));
    }
    const ScratchFolder folder;
    const Outcome<Module> module = compiler->reflect({folder.write("a.slang", "float f() { return 1; }\n")});
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.errors().at(0).id, "slang-timeout");
}

}  // namespace
}  // namespace kf::gen
