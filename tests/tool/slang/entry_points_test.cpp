// Entry points in the text of modules.
#include "slang/entry_points.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

TEST(EntryPoints, BecomeFunctionsWhereTheyStand) {
    EXPECT_EQ(as_functions("[shader(\"compute\")]\n[numthreads(8, 8, 1)] void f(uint3 i : SV_GroupID) {}\n"),
              "                   \n                      void f(uint3 i : SV_GroupID) {}\n");
    EXPECT_EQ(as_functions("[CUDAKernel] [Differentiable] void f() {}"),
              "             [Differentiable] void f() {}");
    EXPECT_EQ(as_functions("[Differentiable, CUDAKernel] void f() {}"),
              "[Differentiable            ] void f() {}");
    EXPECT_EQ(as_functions("[CUDAKernel, Differentiable] void f() {}"),
              "[            Differentiable] void f() {}");
}

TEST(EntryPoints, RequireNothingByThemselves) {
    EXPECT_EQ(as_functions("[numthreads(8)] [require(spvShaderClockKHR)] func f(x : int) {}"),
              "                                             func f(x : int) {}");
    EXPECT_EQ(as_functions("[require(spvShaderClockKHR)] void f() {}"),
              "[require(spvShaderClockKHR)] void f() {}");
}

TEST(EntryPoints, AttributesOfEitherSpelling) {
    EXPECT_EQ(as_functions("[Shader(\"compute\")] [NumThreads(4, 1, 1)] void f() {}"),
              "                                          void f() {}");
    EXPECT_TRUE(is_compute_entry({"NumThreads(4,1,1)"}));
    EXPECT_TRUE(is_compute_entry({"Shader(\"compute\")"}));
    EXPECT_TRUE(is_other_entry({"Shader(\"fragment\")"}));
    EXPECT_FALSE(is_other_entry({"Shader(\"compute\")"}));
    EXPECT_EQ(stated_group_size({"NumThreads(4,2,1)"}), (std::array<std::int64_t, 3>{4, 2, 1}));
    EXPECT_EQ(behind_functions("[NumThreads(TILE)] void f() {}"),
              "\nstruct kf_threads_f { int x[TILE]; };\n");
}

TEST(EntryPoints, GroupSizesAreOfTheirNamespace) {
    EXPECT_EQ(group_size_struct("a.b.f"), "a.b.kf_threads_f");
    EXPECT_EQ(
        behind_functions("namespace a::b { struct S { int x; } [numthreads(N)] void f() {} }\n"
                         "[numthreads(N)] void f() {}"),
        "\nnamespace a::b { struct kf_threads_f { int x[N]; }; }\nstruct kf_threads_f { int x[N]; };\n");
}

TEST(EntryPoints, OthersStay) {
    for (const char* text :
         {"float f(float x[4]) { return x[numthreads(3)]; }",
          "#define SIZES numthreads(8, 1, 1)\n[Differentiable] void f() {}",
          "#define LOOP [unroll]\nvoid f() { LOOP for (;;) {} }", "#if [numthreads(8, 1, 1)]\n#endif",
          "// [shader(\"compute\")] void f() {}", "[numthreads(8, 1, 1)"}) {
        EXPECT_EQ(as_functions(text), text);
        EXPECT_EQ(behind_functions(text), "") << text;
    }
}

TEST(EntryPoints, StagesOfOtherPipelinesBecomeFunctions) {
    EXPECT_EQ(as_functions("[shader(\"fragment\")] [require(glsl)] float4 f() : SV_Target { return 0; }"),
              "                                     float4 f() : SV_Target { return 0; }");
    EXPECT_EQ(as_functions("[shader(\"geometry\")] [maxvertexcount(3)] void f() {}"),
              std::string(21, ' ') + "[maxvertexcount(3)] void f() {}");
}

TEST(EntryPoints, MacrosMakeNone) {
    EXPECT_EQ(as_functions("#define KERNEL [shader(\"compute\")] [numthreads(8, 1, 1)]\nKERNEL void f() {}"),
              "#define KERNEL " + std::string(41, ' ') + "\nKERNEL void f() {}");
    EXPECT_EQ(as_functions("# define K(n) \\\n [numthreads(n, \\\n 1)] [ForceInline] // n\nK(4) void f() {}"),
              "# define K(n) \\\n                \\\n     [ForceInline] // n\nK(4) void f() {}");
    EXPECT_EQ(as_functions_macro("[Shader(\"vertex\")]"), "                  ");
    EXPECT_EQ(entry_macros("#define A [numthreads(4)]\n#define B [unroll]\n#define C(n) [CUDAKernel]\n"),
              (std::set<std::string>{"A", "C"}));
}

TEST(EntryPoints, Lines) {
    const std::string text =
        "float f() { return 1; }\n[shader(\"vertex\")]\nfloat4 vs(uint i[2] : SV_VertexID) : SV_Position\n{\n"
        "    { return 0; }\n}\nA void cs() {\n}\nC(8) void ck() { }\nfloat g() { return 1; }\n"
        "[numthreads(8)] void declared();\n";
    EXPECT_EQ(entry_ranges(text, {"A", "C"}),
              (std::vector<EntryRange>{{"vs", 2, 6}, {"cs", 7, 8}, {"ck", 9, 9}}));
    EXPECT_EQ(entry_ranges(text, {}), (std::vector<EntryRange>{{"vs", 2, 6}}));
    EXPECT_TRUE(entry_ranges("float f() { return 1; }", {}).empty());
}

TEST(EntryPoints, NamesOfCudaBecomeTheLibrarys) {
    const std::string text = "void f() { uint3 i = cudaThreadIdx() + cudaBlockIdx() * cudaBlockDim(); }";
    EXPECT_EQ(as_functions(text),
              "void f() { uint3 i = kf_thread_idx() + kf_block_idx() * kf_block_dim(); }");
    EXPECT_EQ(behind_functions(text), "\nimport kf_launch;\n");
    EXPECT_EQ(as_functions("float cudaThreadIdx;"), "float cudaThreadIdx;");
}

TEST(EntryPoints, SizesThatAreNoNumbersAreExtents) {
    EXPECT_EQ(behind_functions("[numthreads(TILE, max(2, N), 1)] void f() {}"),
              "\nstruct kf_threads_f { int x[TILE]; int y[max(2,N)]; int z[1]; };\n");
    EXPECT_EQ(behind_functions("[numthreads(8, 8, 1)] void f() {}"), "");
}

TEST(EntryPoints, StatedSizes) {
    using Size = std::array<std::int64_t, 3>;
    EXPECT_EQ(stated_group_size({"shader(\"compute\")", "numthreads(8,4,2)"}), (Size{8, 4, 2}));
    EXPECT_EQ(stated_group_size({"numthreads(64u)"}), (Size{64, 1, 1}));
    for (const char* text : {"numthreads(N,1,1)", "numthreads(8,N)", "numthreads(0,1,1)", "numthreads()",
                             "numthreads(8", "numthreads(2*4,1,1)"}) {
        EXPECT_EQ(stated_group_size({text}), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace kf::gen
