// What crosses to the child process comes back the same.
#include "slang/wire.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

TEST(Wire, Requests) {
    const auto reflect =
        decode_request(encode(CompilerRequest(ReflectRequest{{"/a/b.slang", "/c.slang"}, "values"})));
    EXPECT_EQ(std::get<ReflectRequest>(reflect).modules.at(1), "/c.slang");
    EXPECT_EQ(std::get<ReflectRequest>(reflect).values, "values");
    const KernelSource source{"main",
                              "void main() {}\n",
                              {"/s.kf.json", 3, 4},
                              "a hint",
                              {{"tint_1_0123abcd", true}},
                              true,
                              true,
                              true,
                              {"picture"},
                              "values",
                              {{"I", "A", 7}}};
    const auto compile = std::get<CompileRequest>(
        decode_request(encode(CompilerRequest(CompileRequest{source, CodeTarget::cuda_source}))));
    EXPECT_EQ(compile.source.entry_point, source.entry_point);
    EXPECT_EQ(compile.source.text, source.text);
    EXPECT_EQ(compile.source.origin, source.origin);
    EXPECT_EQ(compile.source.hint, source.hint);
    EXPECT_EQ(compile.source.globals, source.globals);
    EXPECT_TRUE(compile.source.for_header);
    EXPECT_EQ(compile.source.values, source.values);
    EXPECT_EQ(compile.source.conformances, source.conformances);
    EXPECT_EQ(compile.target, CodeTarget::cuda_source);
}

TEST(Wire, Modules) {
    Type ray;
    ray.kind = TypeKind::structure;
    ray.name = "Ray";
    ray.fields.push_back(
        {"o", {TypeKind::vector, ScalarType::float16, 1, 3, 0, {}, {}, "half3", true}, true});
    Type rays;
    rays.kind = TypeKind::array;
    rays.extent = 4;
    rays.element.push_back(ray);
    Module module;
    module.module_names = {"m"};
    module.sources = {{"/m.slang", "float f() {}\n"}};
    module.functions.push_back({"f",
                                {{"a", rays, Direction::inout, true}},
                                ray,
                                true,
                                true,
                                true,
                                true,
                                {"sq", true},
                                {{"T", "", {"IFloat", "IMine"}, 0}, {"N", "uint", {}, 1}},
                                Member::method,
                                "doc \xff",
                                {"/m.slang", 1, 2},
                                true,
                                EntryPoint::compute,
                                true,
                                {{"id", "SV_GROUPID", ray, 1, {"/m.slang", 1, 9}}},
                                {8, 4, 1}});
    module.functions[0].result.is_enum = true;
    module.functions[0].result.members = {{"low", -1}, {"high", 1LL << 40}};
    module.shared.push_back({"Box<T>", {{"T", "", {}, 0}}, module.functions[0]});
    module.structs = {{"ns.Box", "A box.\nOf \xc3\xa4.", {{"size", "In metres."}, {"depth", ""}}}};
    module.link = {{"N", {"/m.slang", 3, 4}, false, true, rays, {}}, {"V", {}, true, false, {}, "I, J"}};
    module.link[0].type.link_extent = "N";
    module.link[0].type.addressing = "TextureAddress.clamp";
    const Outcome<Module> back = decode_module(encode(Outcome<Module>(module)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back.value().module_names, module.module_names);
    EXPECT_EQ(back.value().sources, module.sources);
    EXPECT_EQ(back.value().functions, module.functions);
    EXPECT_EQ(back.value().structs, module.structs);
    EXPECT_EQ(back.value().shared, module.shared);
    EXPECT_EQ(back.value().link, module.link);
}

TEST(Wire, Kernels) {
    CompiledKernel kernel;
    kernel.code = std::string("\x03\x02\x23\x07\0\xff", 6);
    kernel.block_size = 48;
    kernel.block.push_back({"x", 8, 16});
    kernel.features = {"int8"};
    kernel.constants = {3};
    const Outcome<CompiledKernel> back = decode_kernel(encode(Outcome<CompiledKernel>(kernel)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back.value().code, kernel.code);
    EXPECT_EQ(back.value().block_size, 48);
    EXPECT_EQ(back.value().block.at(0).name, "x");
    EXPECT_EQ(back.value().block.at(0).offset, 8);
    EXPECT_EQ(back.value().block.at(0).size, 16);
    EXPECT_EQ(back.value().features, kernel.features);
    EXPECT_EQ(back.value().constants, kernel.constants);
}

TEST(Wire, WhatIsReached) {
    const KernelSource source{"kf_probe", "void kf_probe() {}\n", {"/s.kf.json", 3, 4}, {}};
    const auto asked = std::get<ReachRequest>(
        decode_request(encode(CompilerRequest(ReachRequest{source, {CodeTarget::cuda_source, true}}))));
    EXPECT_EQ(asked.source.text, source.text);
    EXPECT_EQ(asked.form.target, CodeTarget::cuda_source);
    EXPECT_TRUE(asked.form.places);
    const std::vector<Reached> reached{
        {Reach::barrier, "a barrier", {"/m.slang", 1, 2}, true, {"/n.slang", 3, 4}, "f", "\xff();", ""}};
    const Outcome<std::vector<Reached>> back = decode_reached(encode(Outcome<std::vector<Reached>>(reached)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back.value(), reached);
}

TEST(Wire, Types) {
    const auto* asked = "Box<float, 3>";
    EXPECT_EQ(std::get<TypeRequest>(decode_request(encode(TypeRequest{asked}))).name, asked);
    const auto conforms =
        std::get<ConformsRequest>(decode_request(encode(ConformsRequest{"float", "IFloat"})));
    EXPECT_EQ(conforms.type, "float");
    EXPECT_EQ(conforms.interface_name, "IFloat");
    EXPECT_EQ(std::get<TypeRequest>(decode_request(encode(TypeRequest{asked, "lib"}))).module, "lib");
    EXPECT_EQ(std::get<ConformsRequest>(decode_request(encode(ConformsRequest{"A", "IA", "lib"}))).module,
              "lib");
    const Type type{TypeKind::vector, ScalarType::float16, 1, 3, 0, {}, {}, "half3", true};
    EXPECT_EQ(decode_type(encode(Outcome<std::optional<Type>>(type))).value(), type);
    EXPECT_EQ(decode_type(encode(Outcome<std::optional<Type>>(std::nullopt))).value(), std::nullopt);
    EXPECT_TRUE(decode_conforms(encode(Outcome<bool>(true))).value());
    EXPECT_FALSE(decode_conforms(encode(Outcome<bool>(false))).value());
    const Diagnostics errors = {{Severity::error, "slang-E1", {"/a", 1, 2}, "no", {}}};
    EXPECT_EQ(decode_type(encode(Outcome<std::optional<Type>>(errors))).errors(), errors);
    EXPECT_EQ(decode_conforms(encode(Outcome<bool>(errors))).errors(), errors);
}

TEST(Wire, Warnings) {
    const Diagnostics warnings = {{Severity::warning, "slang-E1", {"/a", 1, 2}, "odd \xff", {"one"}},
                                  {Severity::warning, "slang-E2", {"/a", 3, 2}, "odd", {}}};
    const Diagnostic error{Severity::error, "slang-E3", {"/a", 1, 2}, "no", {}};
    EXPECT_EQ(decode_module(encode(Outcome<Module>(Module{}).with_warnings(warnings))).warnings(), warnings);
    const Outcome<CompiledKernel> failed =
        decode_kernel(encode(Outcome<CompiledKernel>(error).with_warnings(warnings)));
    EXPECT_EQ(failed.errors(), Diagnostics{error});
    EXPECT_EQ(failed.warnings(), warnings);
}

TEST(Wire, Errors) {
    const Diagnostics errors = {{Severity::error, "slang-E1", {"/a", 1, 2}, "no", {"one", "two"}}};
    EXPECT_EQ(decode_kernel(encode(Outcome<CompiledKernel>(errors))).errors(), errors);
    EXPECT_EQ(decode_module(encode(Outcome<Module>(errors))).errors(), errors);
}

}  // namespace
}  // namespace kf::gen
