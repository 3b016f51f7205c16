// Every generated file of some specs against tests/golden/, from the spec's text through the real planner.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "emit/cpp.h"
#include "emit/python.h"
#include "kernels/collect.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;

struct Case {
    std::string name;
    std::string calls;  ///< of the spec, as JSON
    std::vector<Function> functions;
    std::vector<StructText> structs = {};
};

Function documented(Function function, const std::string& doc) {
    function.doc = doc;
    return function;
}

Type ray() {
    return test::struct_of("Ray", {{"pos", test::type_named("float3")}, {"dir", test::type_named("float3")}});
}

Type scene() {
    const Type light = test::struct_of(
        "Light", {{"color", test::type_named("half3")}, {"power", test::type_named("float")}});
    return test::struct_of("Scene", {{"lights", test::array_of(light, 2)},
                                     {"scale", test::type_named("float"), true},
                                     {"on", test::type_named("bool")}});
}

/// float3 raytrace(Ray ray, float t), Ray advance(Scene scene, inout Ray ray).
std::vector<Function> struct_functions() {
    Function raytrace = function_of("float3", "raytrace", {{"float", "ray"}, {"float", "t"}});
    raytrace.parameters[0].type = ray();
    Function advance =
        function_of("float", "advance", {{"float", "scene"}, {"float", "ray", Direction::inout}});
    advance.parameters[0].type = scene();
    advance.parameters[1].type = ray();
    advance.result = ray();
    return {raytrace, advance};
}

/// Particle with a constructor, a method of each sort and static functions; Tools has nothing but one.
std::vector<Function> member_functions() {
    const Type particle = test::struct_of(
        "Particle", {{"position", test::type_named("float2")}, {"speed", test::type_named("float")}});
    Function make = function_of("float", "Particle.__init", {{"float", "speed"}});
    make.member = Member::constructor;
    make.result = particle;
    Function move =
        function_of("void", "Particle.move", {{"float", "this", Direction::inout}, {"float", "dt"}});
    Function at = function_of("float2", "Particle.at", {{"float", "this"}, {"float", "module"}});
    for (Function* method : {&move, &at}) {
        method->member = Member::method;
        method->parameters[0].type = particle;
    }
    Function limit = function_of("float", "Particle.limit", {{"float", "speed"}});
    Function clamp = function_of("float", "Tools.clamp", {{"float", "x"}});
    for (Function* function : {&limit, &clamp}) function->member = Member::static_one;
    return {documented(make, "At rest at the origin."), documented(move, "Moves on by dt."), at, limit,
            clamp};
}

std::vector<Function> tangent_functions() {
    std::vector<Function> functions = struct_functions();
    functions.push_back(function_of("float", "polynomial", {{"float", "a"}, {"float", "x"}}));
    functions.push_back(function_of("int", "split",
                                    {{"float", "x"},
                                     {"int", "n"},
                                     {"float2", "whole", Direction::out},
                                     {"half", "total", Direction::inout}}));
    return functions;
}

std::vector<Function> loss_functions() {
    Function hit =
        function_of("float", "hit", {{"float", "ray"}, {"float3", "at"}, {"int", "face", Direction::out}});
    hit.parameters[0].type = ray();
    return {documented(function_of("float", "line_error", {{"float", "a"}, {"float", "x"}, {"float", "y"}}),
                       "The squared error of a line."),
            hit};
}

std::vector<Case> cases() {
    return {
        {"polynomial",
         R"([{"function": "polynomial",
              "args": {"a": "value", "b": "value", "c": "value", "x": ["value", "tensor[1]", "tensor[2]"]},
              "backward": true}])",
         {documented(function_of("float", "polynomial",
                                 {{"float", "a"}, {"float", "b"}, {"float", "c"}, {"float", "x"}}),
                     "a * x * x + b * x + c.")}},
        // Outputs of every role, vectors, half, integers, a map, and what has no gradient.
        {"mixed",
         R"([{"function": "split", "args": {"x": "tensor[1]", "whole": "tensor[1]", "total": "tensor[1]"},
              "backward": true},
             {"function": "shade", "args": {"normal": ["tensor<float>[2]", "tensor[1]"], "light": "value"},
              "backward": {"inputs": ["normal"]}},
             {"function": "soften", "args": {"x": {"kind": "tensor[2]", "map": [1, 0]}, "amount": "tensor[1]"},
              "backward": true},
             {"function": "count", "args": {"flags": "tensor[1]", "class": ["value", "tensor[1]"]}}])",
         {documented(
              function_of(
                  "float", "split",
                  {{"float", "x"}, {"float", "whole", Direction::out}, {"float", "total", Direction::inout}}),
              "Splits x into its whole part and the rest, which is returned.\n\nAdds x to total."),
          function_of("float3", "shade", {{"float3", "normal"}, {"float3", "light"}}),
          function_of("half", "soften", {{"half", "x"}, {"half", "amount"}}),
          documented(function_of("int64_t", "count", {{"bool4", "flags"}, {"uint8_t", "class"}}, false),
                     "How many flags are set.")}},
        // Forward derivatives: of values and tensors, of every role, of a struct.
        {"tangents",
         R"([{"function": "polynomial", "args": {"a": "value", "x": ["value", "tensor[1]"]}, "forward_diff": true},
             {"function": "split", "args": {"x": "tensor[1]", "n": "value", "whole": "tensor[1]",
              "total": "tensor[1]"}, "forward_diff": true},
             {"function": "raytrace", "args": {"t": "value", "ray": ["tensor[1]",
                {"fields": {"pos": "tensor[1]", "dir": "value"}}]}, "forward_diff": true}])",
         tangent_functions()},
        // Losses with their gradients: of values and tensors, deterministic too, of structs and a plain
        // output.
        {"losses",
         R"([{"function": "line_error", "args": {"a": ["value", "tensor[2]"], "x": "tensor[2]", "y": "tensor[2]"},
              "backward": {"inputs": ["a"], "fused": true}},
             {"function": "line_error", "name": "one_error", "args": {"a": "value", "x": "value", "y": "value"},
              "backward": {"fused": true, "deterministic": true}},
             {"function": "hit", "args": {"ray": ["value", {"fields": {"pos": "tensor[1]", "dir": "value"}}],
              "at": "tensor[1]", "face": "tensor[1]"}, "backward": {"fused": true}}])",
         loss_functions()},
        // Each generator: beside tensors, alone, and in a backward pass.
        {"generated",
         R"([{"function": "place", "args": {"at": "call_id"}},
             {"function": "place", "name": "spread", "args": {"at": {"kind": "grid[2]", "map": [1, 0]}}},
             {"function": "step", "args": {"i": ["range", "grid[1]", "tensor[1]"], "thread": "thread_id"}},
             {"function": "shuffle", "args": {"keys": "wang_hash"}, "result": "tensor[1]"},
             {"function": "jitter", "args": {"at": "call_id", "noise": "rand_float", "x": "tensor[2]"},
              "backward": true}])",
         {function_of("float", "place", {{"int2", "at"}}, false),
          function_of("int", "step", {{"int", "i"}, {"uint[3]", "thread"}}, false),
          function_of("uint", "shuffle", {{"uint[4]", "keys"}}, false),
          documented(function_of("float", "jitter", {{"int[2]", "at"}, {"float2", "noise"}, {"float", "x"}}),
                     "Moves x a little.")}},
        // Tensors that the function reads where it likes: gradients of floats, of halves, of doubles.
        {"gathers",
         R"([{"function": "look_up", "args": {"table": "tensor[1]", "at": "tensor[1]"},
              "backward": {"deterministic": "auto"}},
             {"function": "look_up_half", "args": {"table": "tensor[2]", "at": "tensor[1]"}, "backward": true},
             {"function": "look_up_double", "args": {"table": "tensor[1]", "at": "tensor[1]"}, "backward": true}])",
         {documented(function_of("float", "look_up", {{"DiffTensor<float, 1>", "table"}, {"int", "at"}}),
                     "What a table holds."),
          function_of("half", "look_up_half", {{"DiffTensor<half, 2>", "table"}, {"int2", "at"}}),
          function_of("double", "look_up_double", {{"DiffTensor<double, 1>", "table"}, {"int", "at"}})}},
        // Structs by value, in tensors and field by field, nested and in arrays.
        {"rays",
         R"([{"function": "raytrace", "args": {"t": "value", "ray": ["value", "tensor[1]",
                {"fields": {"pos": "tensor[1]", "dir": "value"}}]}, "backward": true},
              {"function": "advance", "args": {"scene": "value", "ray": "value"}, "backward": true},
              {"function": "advance", "name": "advance_all", "args": {"scene": "tensor[1]",
                "ray": {"fields": {"pos": {"fields": {"x": "tensor[1]", "y": "tensor[1]", "z": "tensor[1]"}},
                                   "dir": "tensor[1]"}}},
               "result": {"fields": {"pos": "tensor[1]", "dir": "tensor[1]"}}, "backward": true}])",
         struct_functions()},
        // Methods on each form of their object, constructors and static functions.
        {"members",
         R"([{"function": "Particle.__init", "name": "make", "args": {"speed": ["value", "tensor[1]"]}},
              {"function": "Particle.move", "args": {"dt": "value"}, "this": ["tensor[1]",
                {"fields": {"position": "tensor[1]", "speed": "value"}}]},
              {"function": "Particle.at", "this": ["value", "tensor[1]"], "args": {"module": "tensor[1]"},
               "backward": true},
              {"function": "Particle.limit", "args": {"speed": "tensor[1]"}},
              {"function": "Tools.clamp", "args": {"x": "value"}}])",
         member_functions(),
         {{"Particle",
           "A point in flight.\n\nIt has no size.",
           {{"position", "Where it is,\nin metres."}, {"speed", "How fast."}}},
          {"Tools", "Some \"tools\"", {}}}}};
}

/// Name and text of every file that a spec becomes; kernels are one file.
std::map<std::string, std::string> generated(const Case& one) {
    const std::string text = R"({"version": 1, "name": ")" + one.name + R"(", "modules": [")" + one.name +
                             R"(.slang"], "calls": )" + one.calls + "}";
    auto spec = parse_spec(text, one.name + ".kf.json");
    Module module;
    module.module_names = {one.name};
    module.functions = one.functions;
    module.structs = one.structs;
    std::map<std::string, std::string> files;
    const auto failed = [](const auto& outcome) {
        if (!outcome)
            for (const Diagnostic& error : outcome.errors()) ADD_FAILURE() << format_text(error);
        return !outcome;
    };
    if (failed(spec)) return files;
    auto plan = resolve(spec.value(), module);
    if (failed(plan)) return files;
    CppOptions options;
    options.sha256 = std::string(64, '0');
    auto cpp = emit_cpp(plan.value(), options);
    auto python = emit_python(plan.value());
    auto kernels = collect_kernels(plan.value(), {CodeTarget::spirv});
    if (failed(cpp) || failed(python) || failed(kernels)) return files;
    files[one.name + ".h"] = cpp.value().header;
    files[one.name + ".cpp"] = cpp.value().source;
    files[one.name + ".py"] = python.value().module;
    files[one.name + ".pyi"] = python.value().stub;
    std::string& sources = files["kernels.slang"];
    for (const KernelUnit& unit : kernels.value().units)
        sources += (sources.empty() ? "" : "\n") + unit.sources.at(CodeTarget::spirv).source.text;
    return files;
}

std::string read(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// The first lines that differ, and where.
std::string difference(const std::string& expected, const std::string& found) {
    std::istringstream left(expected);
    std::istringstream right(found);
    std::string a;
    std::string b;
    for (int line = 1;; ++line) {
        const bool more = static_cast<bool>(std::getline(left, a));
        const bool other = static_cast<bool>(std::getline(right, b));
        if (!more && !other) return "the ends of lines differ";
        if (more != other || a != b)
            return "line " + std::to_string(line) + "\n- " + (more ? a : "(end)") + "\n+ " +
                   (other ? b : "(end)");
    }
}

TEST(Golden, GeneratedFilesAreAsReviewed) {
    const bool accept = std::getenv("KF_ACCEPT_GOLDENS") != nullptr;
    for (const Case& one : cases()) {
        const std::filesystem::path folder = std::filesystem::path(KF_SOURCE_DIR) / "tests/golden" / one.name;
        const auto files = generated(one);
        if (accept) std::filesystem::create_directories(folder);
        for (const auto& [name, text] : files) {
            const std::filesystem::path path = folder / name;
            if (accept) std::ofstream(path, std::ios::binary) << text;
            const std::string reviewed = read(path);
            EXPECT_TRUE(reviewed == text)
                << path.string() << ": " << difference(reviewed, text)
                << "\nTo accept what is generated now: KF_ACCEPT_GOLDENS=1 golden_test";
        }
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            EXPECT_TRUE(files.contains(entry.path().filename().string()))
                << entry.path() << " isn't generated";
    }
}

TEST(Golden, SameInputsGiveTheSameBytes) {
    for (const Case& one : cases()) EXPECT_EQ(generated(one), generated(one));
}

}  // namespace
}  // namespace kf::gen
