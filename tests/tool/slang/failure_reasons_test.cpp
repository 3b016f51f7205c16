// The lines and cures that kfgen names where Slang's own words have none; without Slang.
#include "slang/failure_reasons.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const KernelSource kernel{"k",
                          "import m;\nvoid k(uniform Args args) { args.y = bwd_diff(f)(args.x); }\n",
                          {"/s.kf.json", 7, 3},
                          {}};

Diagnostic failure(const std::string& id, const std::string& message) {
    return {Severity::error, id, kernel.origin, message, {"in the generated kernel 'k'"}};
}

Diagnostics reasons(const Diagnostic& said, const std::string& text) {
    return with_reasons({said}, kernel, {{"/m.slang", text}});
}

const Diagnostic crash = failure("slang-internal", "Slang crashed when compiling 'k': signal 11");
const Diagnostic no_local = failure("slang-E99997", "unimplemented: Unhandled local inst in spirv-emit:");
const Diagnostic no_global = failure("slang-E99997", "unimplemented: Unhandled global inst in spirv-emit:");

TEST(FailureReasons, CodeForOtherTargets) {
    const Diagnostics found = reasons(no_local,
                                      "float other(float x) { __intrinsic_asm \"no($0)\"; }\n"
                                      "float fast(float x)\n{\n    __intrinsic_asm \"f($0)\";\n}\n"
                                      "float both(float x) { __target_switch { case cuda: __intrinsic_asm "
                                      "\"f($0)\"; case spirv: return x; } }\n"
                                      "float f(float x) { return fast(x) + both(x); }\n");
    ASSERT_EQ(found.size(), 1U) << "what isn't reached and what has SPIR-V is no reason";
    EXPECT_EQ(found[0].id, "slang-target-code");
    EXPECT_EQ(found[0].location, (Location{"/m.slang", 4, 5}));
    EXPECT_THAT(found[0].message, HasSubstr("'fast' can't run on Vulkan"));
    EXPECT_THAT(found[0].notes, ElementsAre(HasSubstr("case spirv"), "found for the call at /s.kf.json:7:3",
                                            "Slang: unimplemented: Unhandled local inst in spirv-emit",
                                            "in the generated kernel 'k'"));
    EXPECT_EQ(reasons(no_local, "float f(float x) { return x; }\n"), Diagnostics{no_local});
    const Diagnostic unavailable =
        failure("slang-E36107", "'k' uses features that are not available for 'spirv'");
    const std::string foreign = "float f(float x) { __intrinsic_asm \"f($0)\"; }\n";
    EXPECT_EQ(reasons(unavailable, foreign).at(0).id, "slang-target-code");
    const Diagnostic on_cuda = failure("slang-E36107", "'k' uses features that are not available for 'cuda'");
    EXPECT_EQ(reasons(on_cuda, foreign), Diagnostics{on_cuda});
}

TEST(FailureReasons, OptionalsOfObjects) {
    const std::string text =
        "interface I { float v(); }\nstruct A : I { float x; float v() { return x; } }\n"
        "struct Held { float k; I object; }\nstruct Own<T : I> { T object; float v() { I other; return 1; } "
        "}\n"
        "float f(float x)\n{\n    Optional<Own<A>> first = none;\n    Optional<Held> second = none;\n    "
        "return x;\n}\n";
    const Diagnostics found = reasons(crash, text);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "slang-internal");
    EXPECT_EQ(found[0].location, (Location{"/m.slang", 8, 5}));
    EXPECT_EQ(found[0].message,
              "Slang crashes on an Optional of 'Held', which has an object of the interface 'I' as a field");
    EXPECT_THAT(found[0].notes, Contains(HasSubstr("'struct Held<T : I>'")));
    EXPECT_THAT(found[0].notes, Contains("found for the call at /s.kf.json:7:3"));
    EXPECT_EQ(reasons(no_local, text), Diagnostics{no_local});
}

TEST(FailureReasons, Counters) {
    Diagnostic said = failure("slang-E36107", "'k' uses features that are not available for 'spirv'");
    EXPECT_EQ(reasons(said, "float f(float x) { return x; }\n"), Diagnostics{said});
    said.notes.emplace_back("/m.slang:1:61: see using of 'IncrementCounter'");
    const Diagnostics found = reasons(said, "float f(float x) { return x; }\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0].notes,
                ElementsAre(HasSubstr("no hidden counter here: make it an AppendStructuredBuffer"),
                            said.notes[0], said.notes[1]));
}

TEST(FailureReasons, InterfacesWithoutTypes) {
    const Diagnostic said = failure(
        "slang-E50100", "No type conformances are found for interface 'space.IShape'. Code generation ...");
    const Diagnostics found = reasons(said, "float f(float x) { return x; }\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "conformance-missing");
    EXPECT_EQ(found[0].location, said.location);
    EXPECT_THAT(found[0].message, HasSubstr("behind the interface 'space.IShape'"));
    EXPECT_THAT(found[0].notes,
                ElementsAre(HasSubstr(R"("conformances": [{"interface": "space.IShape")"), said.notes[0]));
}

TEST(FailureReasons, LoopsThatStartAtComputedValues) {
    const std::string text =
        "[Differentiable]\nfloat f(float x)\n{\n"
        "    [MaxIters(4)] for (int i = 0; i < 4; ++i) x += i;\n"
        "    [MaxIters(4)] for (Counter i = n; i < 4; ++i) x += i;\n    return x;\n}\n"
        "float g(float x) { [MaxIters(4)] for (Counter i = n; i < 4; ++i) x += i; return x; }\n";
    for (const Diagnostic& said : {no_global, crash}) {
        const Diagnostics found = reasons(said, text);
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].id, "slang-loop-start");
        EXPECT_EQ(found[0].location, (Location{"/m.slang", 5, 19}));
        EXPECT_THAT(found[0].notes, Contains(HasSubstr("int i = first + k;")));
    }
    EXPECT_EQ(reasons(no_local, text), Diagnostics{no_local});
}

TEST(FailureReasons, ProductsOfScalarsAndVectors) {
    const auto notes = [](const std::string& text) { return reasons(crash, text).at(0).notes; };
    const std::string head = "[Differentiable] float3 f(float a, float3 v)\n{\n";
    EXPECT_THAT(notes(head + "    return v * a;\n}\n"),
                Contains(AllOf(HasSubstr("`float3(a) * v`"), HasSubstr("/m.slang:3:12"))));
    EXPECT_THAT(notes("#define F(T) [Differentiable] float3 f(T a, float3 v) { return a * v; }\nF(float)\n"),
                Contains(AllOf(HasSubstr("`float3(a) * v`"), HasSubstr("/m.slang:1:1"))));
    for (const std::string& none :
         {head + "    return v * v;\n}\n", head + "    return v + a * a;\n}\n",
          head + "    return 2 * v;\n}\n", head + "    return a * v.x;\n}\n",
          head + "    return float3(a) * v;\n}\n",
          std::string("float3 f(float a, float3 v) { return a * v; }\n"),
          std::string("[Differentiable] float3 g(float a, float3 v) { return a * v; }\n")}) {
        EXPECT_THAT(notes(none), Not(Contains(HasSubstr("float3(a)")))) << none;
    }
}

TEST(FailureReasons, ClearErrorsStayAsTheyAre) {
    const Diagnostic clear = failure("slang-E30015", "undefined identifier");
    EXPECT_EQ(reasons(clear, "float f(float x) { __intrinsic_asm \"f($0)\"; }\n"), Diagnostics{clear});
}

}  // namespace
}  // namespace kf::gen
