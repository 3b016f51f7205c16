// What Slang is known to fail on: kfgen goes round it, or says where it is and what to write.
#include <gmock/gmock.h>

#include <regex>

#include "slang/workarounds/inout_constants.h"
#include "slang/workarounds/loop_starts.h"
#include "slang/workarounds/stored_parts.h"
#include "slang/workarounds/written_values.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string with_args = "struct Args { float* x; }\n[shader(\"compute\")] [numthreads(1, 1, 1)]\n";

class SlangFaults : public testing::Test {
protected:
    Diagnostics read_errors(const std::string& text) {
        const Outcome<Module> module = make_compiler()->reflect({folder_.write("m.slang", text)});
        return module ? Diagnostics{} : module.errors();
    }

    Diagnostics compile_errors(const std::string& text, const std::string& value, CodeTarget target) {
        const auto compiler = make_compiler();
        const Outcome<Module> module = compiler->reflect({folder_.write("m.slang", text)});
        if (!module) return module.errors();
        const Outcome<CompiledKernel> kernel =
            compiler->compile({"k",
                               "import m;\n" + with_args +
                                   "void k(uniform Args args)\n{\n    var p = diffPair(args.x[1]);\n    "
                                   "args.x[0] = " +
                                   value + ";\n}\n",
                               {"/s.kf.json", 7, 3}},
                              target);
        return kernel ? Diagnostics{} : kernel.errors();
    }

    ScratchFolder folder_;
};

// Once Slang reads these, method_derivatives.h has become unnecessary.
TEST_F(SlangFaults, DerivativesOfAnObjectsMethods) {
    const std::string box =
        "struct Box : IDifferentiable\n{\n    float side;\n"
        "    [Differentiable] float area(float by) { return side * by * by; }\n"
        "    [Differentiable] static float square(float x) { return x * x; }\n"
        "    float own(float x) { var p = diffPair(x); OWN; return p.d; }\n}\n"
        "float slope(float x)\n{\n    Box box; box.side = 3; Box boxes[2]; boxes[1] = box;\n"
        "    var p = diffPair(x); var q = diffPair(box);\n    OTHER;\n    return p.d;\n}\n";
    const auto with = [&](const std::string& own, const std::string& other) {
        std::string text = box;
        text.replace(text.find("OWN"), 3, own);
        return text.replace(text.find("OTHER"), 5, other);
    };
    struct Case {
        std::string own, other;
        std::int64_t line, column;
        std::string cure;
    };
    for (const Case& row :
         {Case{"", "bwd_diff(box.area)(p, 1.0)", 12, 5, "'bwd_diff(Box.area)(box, …)'"},
          Case{"", "p = fwd_diff(boxes[1].area)(p)", 12, 9, "'fwd_diff(Box.area)(boxes[1], …)'"},
          Case{"bwd_diff(area)(p, 1.0)", "", 6, 47, "'bwd_diff(Box.area)(this, …)'"},
          Case{"__bwd_diff(this.area)(p, 1.0)", "", 6, 47, "'__bwd_diff(Box.area)(this, …)'"}}) {
        SCOPED_TRACE(row.own + row.other);
        const Diagnostics errors = read_errors(with(row.own, row.other));
        ASSERT_EQ(errors.size(), 1U) << describe(errors);
        EXPECT_EQ(errors[0].id, "slang-method-derivative");
        EXPECT_EQ(errors[0].location.file, (folder_.path() / "m.slang").string());
        EXPECT_EQ(errors[0].location.line, row.line);
        EXPECT_EQ(errors[0].location.column, row.column);
        EXPECT_THAT(errors[0].notes, Contains(HasSubstr(row.cure)));
        EXPECT_THAT(errors[0].notes, Contains(HasSubstr("Slang crashed when reading m.slang")));
    }
    // As the cures have it.
    const Diagnostics cured = read_errors(
        with("bwd_diff(square)(p, 1.0)", "bwd_diff(Box.area)(q, p, 1.0); bwd_diff(Box.square)(p, 1.0)"));
    EXPECT_TRUE(cured.empty()) << describe(cured);
}

// What the notes advise is read.
TEST_F(SlangFaults, DerivativesOfMethodsThatSeveralTypesHave) {
    const std::string types =
        "interface ICurve { [Differentiable] float eval(float x); }\n"
        "struct Line : ICurve { float a; [Differentiable] float eval(float x) { return a * x; } }\n"
        "struct Box<T : __BuiltinFloatingPointType> { T a; [Differentiable] T area(T x) { return a * x; } }\n"
        "interface IAlone\n{\n    [Differentiable] float only(float x);\n"
        "    float slope(float x) { return OWN; }\n}\n"
        "FUNCTION float f(no_diff T object, float x) { return object.METHOD(x); }\n"
        "float g(T object, float x) { var p = diffPair(x); OTHER; return p.d; }\n";
    const auto with = [&](const std::string& type, const std::string& method, const std::string& own,
                          const std::string& other) {
        std::string text = "typealias T = " + type + ";\n" + types;
        for (const auto& [word, value] : {std::pair<std::string, std::string>{"FUNCTION", "[Differentiable]"},
                                          {"METHOD", method},
                                          {"OWN", own},
                                          {"OTHER", other}})
            text.replace(text.find(word), word.size(), value);
        return text;
    };
    struct Case {
        std::string type, method, own, other, cure;
    };
    for (const Case& row :
         {Case{"Line", "eval", "x", "bwd_diff(object.eval)(p, 1.0)", "bwd_diff(f)(object, p, 1.0)"},
          Case{"ICurve", "eval", "x", "p = fwd_diff(object.eval)(p)", "p = fwd_diff(f)(object, p)"},
          Case{"Box<float>", "area", "x", "bwd_diff(object.area)(p, 1.0)", "bwd_diff(f)(object, p, 1.0)"},
          Case{"IAlone", "only", "fwd_diff(only)(diffPair(x, 1.0)).d", "",
               "fwd_diff(f)(this, diffPair(x, 1.0)).d"}}) {
        SCOPED_TRACE(row.type + row.own + row.other);
        const bool is_own = row.other.empty();
        const std::string cure = row.cure.substr(row.cure.find("_diff") - 3);
        const std::string advised = cure.substr(0, cure.find(", ") + 2) + "…)'";
        const Diagnostics errors = read_errors(with(row.type, row.method, row.own, row.other));
        ASSERT_EQ(errors.size(), 1U) << describe(errors);
        EXPECT_EQ(errors[0].id, "slang-method-derivative");
        EXPECT_THAT(errors[0].notes,
                    Contains(AllOf(HasSubstr("float f(no_diff T object, float x) { return object." +
                                             row.method + "(x); }'"),
                                   HasSubstr(advised))));
        const Diagnostics cured =
            read_errors(with(row.type, row.method, is_own ? row.cure : "x", is_own ? "" : row.cure));
        EXPECT_TRUE(cured.empty()) << describe(cured);
    }
}

TEST_F(SlangFaults, CodeForOtherTargets) {
    const std::string text =
        "float raw(float x)\n{\n    __intrinsic_asm \"sinpif($0)\";\n}\n"
        "float switched(float x)\n{\n    __target_switch\n    {\n    case cuda: __intrinsic_asm "
        "\"sinpif($0)\";\n    case cpp: __intrinsic_asm \"sin($0)\";\n    }\n}\n"
        "[require(cuda)] float required(float x) { __intrinsic_asm \"sinpif($0)\"; }\n"
        "float by_raw(float x) { return raw(x); }\n";
    struct Case {
        std::string value;
        std::int64_t line, column;
    };
    for (const Case& row :
         {Case{"by_raw(p.p)", 3, 5}, Case{"switched(p.p)", 9, 16}, Case{"required(p.p)", 13, 43}}) {
        SCOPED_TRACE(row.value);
        const Diagnostics errors = compile_errors(text, row.value, CodeTarget::spirv);
        ASSERT_EQ(errors.size(), 1U) << describe(errors);
        EXPECT_EQ(errors[0].id, "slang-target-code");
        EXPECT_EQ(errors[0].location,
                  (Location{(folder_.path() / "m.slang").string(), row.line, row.column}));
        EXPECT_THAT(errors[0].notes, Contains("found for the call at /s.kf.json:7:3"));
        EXPECT_TRUE(compile_errors(text, row.value, CodeTarget::cuda_source).empty());
    }
    // Another feature: Slang's notes name the line.
    const Diagnostics other = compile_errors(
        "float quick(float x)\n{\n    __target_switch\n    {\n    case cuda: return x;\n    }\n}\n",
        "quick(p.p)", CodeTarget::spirv);
    ASSERT_EQ(other.size(), 1U) << describe(other);
    EXPECT_THAT(other[0].notes, Contains(HasSubstr("m.slang:3:5"))) << describe(other);
}

// A macro hides it from stored_parts.h.
TEST_F(SlangFaults, InvalidCodeIsRefused) {
    const auto text = [](const std::string& store) {
        return "#define PART a[1].x = x\n[Differentiable] float f(float x, float3 y)\n{\n"
               "    float3 a[2] = { y, y };\n    " +
               store +
               ";\n    a[0] = float3(1);\n    return dot(a[0], y) + dot(a[1], float3(3, 4, 5));\n}\n"
               "float slope(DifferentialPair<float> p, float3 y)\n{\n    var q = diffPair(y);\n"
               "    bwd_diff(f)(p, q, 1.0);\n    return p.d + q.d.x;\n}\n";
    };
    const std::string value = "slope(p, float3(args.x[2], args.x[3], args.x[4]))";
    const Diagnostics errors = compile_errors(text("PART"), value, CodeTarget::spirv);
    ASSERT_EQ(errors.size(), has_fault(stored_parts) ? 1U : 0U) << describe(errors);
    if (!errors.empty()) {
        EXPECT_EQ(errors[0].id, "slang-invalid-code");
        EXPECT_EQ(errors[0].location, (Location{"/s.kf.json", 7, 3}));
        EXPECT_THAT(errors[0].notes, Contains(HasSubstr("Result Type"))) << describe(errors);
    }
    const Diagnostics kept = compile_errors(text("a[1].x = x"), value, CodeTarget::spirv);
    EXPECT_TRUE(kept.empty()) << describe(kept);
}

TEST_F(SlangFaults, LoopsThatStartAtComputedValues) {
    const auto loop = [](const std::string& type) {
        return "typealias Number = int;\nnamespace n { typealias Count = Number; }\n[Differentiable]\n"
               "float f(float x, int first)\n{\n    float s = 0;\n"
               "    [MaxIters(9)] for (" +
               type +
               " i = first; i < 9; ++i) s += x * i * s + x;\n    return s;\n}\n"
               "float slope(inout DifferentialPair<float> p) { bwd_diff(f)(p, 2, 1.0); return p.d; }\n";
    };
    for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
        const Diagnostics errors = compile_errors(loop("int"), "slope(p)", target);
        EXPECT_TRUE(errors.empty()) << describe(errors);
    }
    const Diagnostics errors = compile_errors(loop("n.Count"), "slope(p)", CodeTarget::spirv);
    ASSERT_EQ(errors.size(), has_fault(loop_starts) ? 1U : 0U) << describe(errors);
    if (errors.empty()) return;
    EXPECT_EQ(errors[0].id, "slang-loop-start");
    EXPECT_EQ(errors[0].location.line, 7);
    EXPECT_EQ(errors[0].location.column, 19);
    EXPECT_THAT(errors[0].notes, Contains(HasSubstr("Unhandled global inst")));
}

// The statements of a kernel's code for CUDA that take the derivative of the function `f(x)`.
std::string derivative_code(const std::string& text) {
    const Outcome<CompiledKernel> kernel = make_compiler()->compile(
        {"k",
         text + "struct Args { float* x; }\n[shader(\"compute\")] [numthreads(1, 1, 1)]\n"
                "void k(uniform Args args) { var x = diffPair(args.x[0]); bwd_diff(f)(x, 1.0); args.x[1] = "
                "x.d; }\n",
         {}},
        CodeTarget::cuda_source);
    EXPECT_TRUE(kernel.ok()) << describe(kernel.errors());
    return kernel.ok() ? kernel.value().code : std::string();
}

// In what a macro holds the text isn't changed.
TEST(WrittenValuesInSlang, AreStoredAndNotAddedUp) {
    const auto text = [](const std::string& call) {
        return "#define CALL if (g(x, s.a))\nstruct S : IDifferentiable { float a; }\n"
               "[Differentiable] bool g(float x, out float c) { c = x * x; return x > 1; }\n"
               "[Differentiable] float f(float x) { S s; float r = 0; " +
               call + " r = 1; [MaxIters(3)] for (int i = 0; i < 3; ++i) r += s.a; return r; }\n";
    };
    const std::regex added(R"(float (_S\d+) = _S\d+ \+ (_S\d+);[^}]*\2 = \1;)");
    EXPECT_EQ(std::regex_search(derivative_code(text("CALL")), added), !has_fault(written_values));
    EXPECT_TRUE(std::regex_search(derivative_code(text("g(x, s.a);")), added));
}

// Likewise, of an inout parameter that ends as a constant: what flows into it must not flow on.
TEST(WrittenValuesInSlang, ConstantsOfInoutParametersPassGradientsOn) {
    const auto text = [](const std::string& end) {
        return "#define END held = 0\n[Differentiable] float drain(inout float held) { float r = held * "
               "held; " +
               end +
               "; return r; }\n[Differentiable] float f(float x) { float held = x; float r = drain(held); "
               "return r + 5 * held; }\n";
    };
    const std::regex read_first(R"(float _S\d+ = \*_S\d+;\s+(#line.*\s+)*\*_S\d+ = 0\.0f;)");
    EXPECT_EQ(std::regex_search(derivative_code(text("END")), read_first), has_fault(inout_constants));
    EXPECT_FALSE(std::regex_search(derivative_code(text("held = 0")), read_first));
}

// Once Slang counts these, pack_counts.h has become unnecessary.
TEST_F(SlangFaults, CountsOfWhatIsNoPack) {
    const auto with = [](const std::string& counted) {
        return "int all<each T>(expand each T t) { return countof(T) + countof(t); }\n"
               "int f(float a[5], Tuple<int, float> t) { return all(1, 2.0) + countof(" +
               counted + "); }\n";
    };
    for (const char* counted : {"a", "t", "float[5]", "Array<float3, 7>", "(a)"}) {
        SCOPED_TRACE(counted);
        const Diagnostics errors = read_errors(with(counted));
        ASSERT_EQ(errors.size(), 1U) << describe(errors);
        EXPECT_EQ(errors[0].id, "slang-countof");
        EXPECT_EQ(errors[0].location.line, 2);
        EXPECT_EQ(errors[0].location.column, 63);
        EXPECT_THAT(errors[0].notes, Contains(HasSubstr("a.getCount()")));
    }
    const Diagnostics none = read_errors(
        "int all<each T>(expand each T t) { return countof(T) + countof(t); }\n"
        "int f(float a[5]) { return all(1, 2.0) + int(a.getCount()); }\n");
    EXPECT_EQ(none.size(), 0U) << describe(none);
}

// Once Slang reads these, or says what is wrong, crash_search.h has nothing to find here.
TEST_F(SlangFaults, CrashesAreAtADeclaration) {
    for (const char* declaration : {"[ForwardDerivative(g_fwdd)] float g(float x) { return x; }",
                                    "struct S : IDifferentiable { float a; property float b { "
                                    "[Differentiable] get { return a; } } }"}) {
        SCOPED_TRACE(declaration);
        const Diagnostics errors = read_errors("float f(float x) { return x; }\n\n" +
                                               std::string(declaration) + "\nfloat h() { return 1; }\n");
        ASSERT_EQ(errors.size(), 1U) << describe(errors);
        EXPECT_EQ(errors[0].id, "slang-internal");
        EXPECT_EQ(errors[0].location, (Location{(folder_.path() / "m.slang").string(), 3, 1}));
        EXPECT_THAT(errors[0].notes, Contains(HasSubstr("when this declaration and all that follow")));
    }
}

// Slang says nothing of where that is.
TEST_F(SlangFaults, FilesInGlsl) {
    const Diagnostics errors = read_errors("// GLSL\n  # version 450\nfloat f(float x) { return x; }\n");
    ASSERT_EQ(errors.size(), 1U) << describe(errors);
    EXPECT_EQ(errors[0].id, "slang-glsl");
    EXPECT_EQ(errors[0].location.line, 2);
    EXPECT_EQ(errors[0].location.column, 3);
    EXPECT_EQ(read_errors("// #version 450\n#define version 4\nfloat f() { return version; }\n").size(), 0U);
}

}  // namespace
}  // namespace kf::gen
