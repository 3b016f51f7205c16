// Specs as text in, values or errors with ids and places out.
#include "spec/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kf::gen {
namespace {

using manifest::Accumulate;
using manifest::Gradient;

using testing::HasSubstr;
using testing::StartsWith;

Spec parse(std::string_view text) {
    const Outcome<Spec> outcome = parse_spec(text, "dir/s.kf.json");
    if (!outcome) {
        for (const Diagnostic& error : outcome.errors()) {
            ADD_FAILURE() << format_text(error);
        }
        return {};
    }
    return outcome.value();
}

Diagnostics errors_of(std::string_view text) {
    const Outcome<Spec> outcome = parse_spec(text, "s");
    if (outcome) {
        ADD_FAILURE() << "parsed: " << text;
        return {{}};
    }
    return outcome.errors();
}

/// A minimal spec with more keys at its end, on line 3, and in its call, on line 2.
std::string spec_with(const std::string& top, const std::string& call = "") {
    return "{\"version\": 1, \"name\": \"m\", \"modules\": [\"m.slang\"], \"calls\": [\n{\"function\": "
           "\"f\"" +
           (call.empty() ? "" : ", " + call) + "}]" + (top.empty() ? "" : ",\n" + top) + "}";
}

/// A spec with one mistake. An @ stands where the error must point and is taken out of the text.
struct BadCase {
    std::string text;
    std::string id;
    std::string part;  // of the printed error
};

void expect_bad(BadCase bad) {
    const std::size_t mark = bad.text.find('@');
    ASSERT_NE(mark, std::string::npos) << bad.text;
    const std::string before = bad.text.substr(0, mark);
    bad.text.erase(mark, 1);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto column = static_cast<std::int64_t>(mark - (before.rfind('\n') + 1)) + 1;

    const Diagnostics errors = errors_of(bad.text);
    const Diagnostic& error = errors.front();
    EXPECT_EQ(errors.size(), 1U) << bad.text;
    EXPECT_EQ(error.id, bad.id) << bad.text << "\n" << format_text(error);
    EXPECT_THAT(format_text(error),
                StartsWith("s:" + std::to_string(line) + ':' + std::to_string(column) + ':'))
        << bad.text;
    EXPECT_THAT(format_text(error), HasSubstr(bad.part)) << bad.text;
}

TEST(ParseSpec, ReadsTheDesignsExample) {
    const Spec spec = parse(R"({
  "version": 1,
  "name": "polynomial",
  "modules": ["polynomial.slang"],
  "targets": ["vulkan", {"cuda": {"arch": ["sm_80", "sm_90"], "ptx": true}}],
  "calls": [
    {"function": "polynomial",
     "args": {"a": "value", "b": "value", "c": "value", "x": ["value", "tensor[1]", "tensor[2]"]},
     "result": "auto",
     "backward": true}
  ]
})");
    EXPECT_EQ(spec.name, "polynomial");
    EXPECT_EQ(spec.namespace_name, "polynomial");
    EXPECT_EQ(spec.directory, "dir");
    EXPECT_EQ(spec.file, "dir/s.kf.json");
    ASSERT_EQ(spec.modules.size(), 1U);
    EXPECT_EQ(spec.modules[0].path, "polynomial.slang");
    EXPECT_EQ(spec.modules[0].location, (Location{"dir/s.kf.json", 4, 15}));
    ASSERT_EQ(spec.targets.size(), 2U);
    EXPECT_EQ(spec.targets[0].backend, Backend::vulkan);
    EXPECT_EQ(spec.targets[1].backend, Backend::cuda);
    EXPECT_EQ(spec.targets[1].architectures, (std::vector<std::string>{"sm_80", "sm_90"}));
    EXPECT_TRUE(spec.targets[1].ptx);
    ASSERT_EQ(spec.calls.size(), 1U);
    const CallSpec& call = spec.calls[0];
    EXPECT_EQ(call.function, "polynomial");
    EXPECT_EQ(call.name, "polynomial");
    EXPECT_EQ(call.location, (Location{"dir/s.kf.json", 7, 5}));
    EXPECT_EQ(call.function_location, (Location{"dir/s.kf.json", 7, 18}));
    ASSERT_EQ(call.arguments.size(), 4U);
    EXPECT_EQ(call.arguments[3].name, "x");
    EXPECT_EQ(call.arguments[3].location, (Location{"dir/s.kf.json", 8, 57}));
    ASSERT_EQ(call.arguments[3].alternatives.size(), 3U);
    EXPECT_EQ(call.arguments[3].alternatives[2].rank, 2);
    EXPECT_EQ(call.arguments[3].alternatives[2].location, (Location{"dir/s.kf.json", 8, 85}));
    EXPECT_TRUE(call.result.empty());
    EXPECT_TRUE(call.backward.enabled);
    EXPECT_FALSE(call.backward.inputs);
}

TEST(ParseSpec, FillsInDefaults) {
    const Spec spec = parse(spec_with(""));
    ASSERT_EQ(spec.targets.size(), 1U);
    EXPECT_EQ(spec.targets[0].backend, Backend::vulkan);
    const CallSpec& call = spec.calls.at(0);
    EXPECT_FALSE(call.threads);
    EXPECT_FALSE(call.backward.enabled);
    EXPECT_FALSE(call.strict_broadcasting);
    EXPECT_EQ(call.dispatch, Dispatch::arguments);
    EXPECT_TRUE(parse_spec(spec_with(""), "s.kf.json").value().directory.empty());
}

TEST(ParseSpec, ReadsEveryTopLevelKey) {
    const Spec spec =
        parse(spec_with(R"("$schema": "x", "namespace": "app::kernels", "search_paths": ["include"],
        "defines": {"A": "1"}, "targets": ["cuda"],
        "options": {"capabilities": ["spvShaderClockKHR", "cuda_sm_9_0"], "ignore_capabilities": true}, "constants": {"N": 5, "ns.K": {"type": "uint", "value": 3}, "B": true},
        "types": {"VAL": "Val10"}, "link": ["other.slang"],
        "conformances": [{"interface": "IVal", "type": "Get10", "id": 4}, {"interface": "IVal", "type": "B"}],
        "structs": [{"slang": "Ray", "header": "ray.h", "type": "app::Ray", "columns": ["place"]}],
        "globals": {"out": {"format": "rgba32f"}}, "graphs": [{"name": "g"}], "pipelines": [{"name": "p", "any": 1}])"));
    EXPECT_EQ(spec.namespace_name, "app::kernels");
    EXPECT_EQ(spec.search_paths.at(0).path, "include");
    EXPECT_EQ(spec.defines.at(0).name, "A");
    EXPECT_EQ(spec.defines.at(0).text, "1");
    EXPECT_EQ(spec.slang.capabilities.at(1).name, "cuda_sm_9_0");
    EXPECT_TRUE(spec.slang.ignores_capabilities);
    EXPECT_EQ(spec.targets.at(0).backend, Backend::cuda);
    using Literal = ConstantScalar::Literal;
    const std::vector<ConstantSpec>& constants = spec.values.constants;
    ASSERT_EQ(constants.size(), 3U);
    EXPECT_EQ(constants[0].value, (ConstantScalar{Literal::integer, "5", constants[0].value.location}));
    EXPECT_EQ(constants[0].type, "");
    EXPECT_EQ(constants[1].name, "ns.K");
    EXPECT_EQ(constants[1].type, "uint");
    EXPECT_EQ(constants[1].value.text, "3");
    EXPECT_GT(constants[1].value.location.column, constants[1].location.column);
    EXPECT_EQ(constants[2].value.literal, Literal::boolean);
    EXPECT_EQ(spec.values.types.at(0).text, "Val10");
    EXPECT_EQ(spec.link.at(0).path, "other.slang");
    EXPECT_EQ(spec.values.conformances.at(0).id, 4);
    EXPECT_EQ(spec.values.conformances.at(1).id, std::nullopt);
    EXPECT_EQ(spec.structs.at(0).type, "app::Ray");
    EXPECT_EQ(spec.structs.at(0).columns.at(0).name, "place");
    EXPECT_EQ(spec.globals.at(0).text, "rgba32f");
    EXPECT_EQ(spec.graphs.at(0).name, "g");
    EXPECT_EQ(spec.pipelines.at(0).name, "p");
}

TEST(ParseSpec, ReadsEveryCallKey) {
    const Spec spec =
        parse(spec_with("", R"("name": "g", "this": "value", "threads": [16, 8], "dispatch": "threads",
        "backward": {"inputs": ["a", "x"], "deterministic": true, "fused": true}, "forward_diff": true,
        "strict_broadcasting": true, "variants": {"tiled": {"threads": [8, 8, 2]}, "plain": {"constants": {"N": 2}, "types": {"V": "A"}, "conformances": [{"interface": "I", "type": "A"}]}},
        "accumulate": {"result": "sum", "a.grad": ["sum", "push", "first", "none", "overwrite"]},
        "result": ["value", {"kind": "tensor[2]", "layout": "contiguous"}])"));
    const CallSpec& call = spec.calls.at(0);
    EXPECT_EQ(call.name, "g");
    EXPECT_EQ(call.self.at(0).kind, Kind::value);
    ASSERT_TRUE(call.threads);
    EXPECT_EQ(call.threads->size, (std::array<int, 3>{16, 8, 1}));
    EXPECT_EQ(call.threads->dimensions, 2);
    EXPECT_EQ(call.dispatch, Dispatch::threads);
    EXPECT_EQ(parse(spec_with("", R"("dispatch": "groups")")).calls.at(0).dispatch, Dispatch::groups);
    EXPECT_TRUE(call.backward.enabled && call.backward.deterministic && call.backward.fused);
    EXPECT_EQ(call.backward.inputs, (std::vector<std::string>{"a", "x"}));
    EXPECT_TRUE(call.forward_diff && call.strict_broadcasting);
    ASSERT_EQ(call.variants.size(), 2U);
    EXPECT_EQ(call.variants[0].threads->size[2], 2);
    EXPECT_EQ(call.variants[0].link, LinkSpec{});
    EXPECT_FALSE(call.variants[1].threads);
    EXPECT_EQ(call.variants[1].link.constants.at(0).value.text, "2");
    EXPECT_EQ(call.variants[1].link.types.at(0).text, "A");
    EXPECT_EQ(call.variants[1].link.conformances.at(0).interface_name, "I");
    ASSERT_EQ(call.accumulate.size(), 2U);
    EXPECT_EQ(call.accumulate[0].choices, std::vector<AccumulateWay>{{Accumulate::sum}});
    EXPECT_EQ(call.accumulate[1].choices, (std::vector<AccumulateWay>{{Accumulate::sum},
                                                                      {Accumulate::push},
                                                                      {Accumulate::first},
                                                                      {Accumulate::none},
                                                                      {Accumulate::sum, true}}));
    ASSERT_EQ(call.result.size(), 2U);
    EXPECT_TRUE(call.result[1].contiguous_only);
}

TEST(ParseSpec, ReadsKindsWithOptions) {
    const Spec spec = parse(spec_with("", R"("args": {
        "a": {"kind": "tensor[2]", "map": [1, 0], "as": "float3", "grad": true, "accumulate": "sum"},
        "b": [{"kind": "value", "grad": "auto"}, {"kind": "value<float3>", "grad": false}],
        "c": {"kind": "rwtexture2d", "format": "rgba32f"},
        "d": {"fields": {"pos": "tensor[1]", "dir": {"fields": {"x": ["value", "tensor[1]"]}}}}})"));
    const std::vector<ArgumentSpec>& arguments = spec.calls.at(0).arguments;
    const KindSpec& a = arguments.at(0).alternatives.at(0);
    EXPECT_EQ(a.map, (std::vector<int>{1, 0}));
    EXPECT_EQ(a.element, "float3");
    EXPECT_EQ(a.grad, Gradient::required);
    EXPECT_EQ(a.accumulate, std::vector<AccumulateWay>{{Accumulate::sum}});
    EXPECT_EQ(arguments.at(1).alternatives.at(0).grad, Gradient::automatic);
    EXPECT_EQ(arguments.at(1).alternatives.at(1).grad, Gradient::never);
    EXPECT_EQ(arguments.at(2).alternatives.at(0).format, "rgba32f");
    const KindSpec& d = arguments.at(3).alternatives.at(0);
    EXPECT_EQ(d.kind, Kind::fields);
    ASSERT_EQ(d.fields.size(), 2U);
    EXPECT_EQ(d.fields[1].alternatives.at(0).fields.at(0).alternatives.size(), 2U);
}

TEST(ParseSpec, NamesTheHostFunctionAfterTheFunction) {
    const auto name = [](const std::string& function) {
        return parse(R"({"version": 1, "name": "m", "modules": ["m"], "calls": [{"function": ")" + function +
                     "\"}]}")
            .calls.at(0)
            .name;
    };
    EXPECT_EQ(name("f"), "f");
    EXPECT_EQ(name("f<float, 3>"), "f");
    EXPECT_EQ(name("Scaler.scale_value"), "scale_value");
    EXPECT_EQ(name("Ray.__init"), "Ray");
    EXPECT_EQ(name("Box<vector<float, 3>>.__init"), "Box");
    EXPECT_EQ(name("ns::f"), "f");
}

TEST(ParseSpec, ReportsBadInputWithIdAndPlace) {
    const auto whole = [](const std::string& version, const std::string& name, const std::string& modules,
                          const std::string& calls) {
        return "{\"version\": " + version + ", \"name\": " + name + ", \"modules\": " + modules +
               ", \"calls\": " + calls + "}";
    };
    const std::string one = "[{\"function\": \"f\"}]";
    const std::vector<BadCase> cases{
        {"@[]", "spec-type", "The spec must be an object, not an array"},
        {"{\"version\": 1@", "spec-syntax", "ends too early"},
        {"{\"version\": 1, @\"version\": 1}", "spec-duplicate-key", "'version' is given twice"},
        {whole("@2", "\"m\"", "[\"m\"]", one), "spec-version", "version must be 1, not the number 2"},
        {whole("@\"1\"", "\"m\"", "[\"m\"]", one), "spec-type", "must be an integer, not the string \"1\""},
        {"@{\"name\": \"m\", \"modules\": [\"m\"], \"calls\": [{\"function\": \"f\"}]}", "spec-missing-key",
         "'version'"},
        {whole("1", "\"m\"", "@[]", one), "spec-value", "modules must not be empty"},
        {whole("1", "\"m\"", "[\"m\"]", "@[]"), "spec-value", "calls must not be empty"},
        {whole("1", "@\"2m\"", "[\"m\"]", one), "spec-name", "not '2m'"},
        {whole("1", "@\"class\"", "[\"m\"]", one), "spec-name", "reserved"},
        {whole("1", "\"m\"", "[@\"\"]", one), "spec-value", "modules[0] must not be empty"},
        {whole("1", "\"m\"", "[\"m\", @\"m\"]", one), "spec-value", "modules[1] is listed twice"},
        {whole("1", "\"m\"", "[\"m\"]", "[{\"function\": @\"f(\"}]"), "spec-value", "must be a function"},
        {whole("1", "\"m\"", "[\"m\"]", "[@{\"name\": \"f\"}]"), "spec-missing-key",
         "calls[0] needs the key 'function'"},
        {whole("1", "\"m\"", "[\"m\"]", "[{\"function\": @\"A.del\"}]"), "spec-name", "'del'"},
        {spec_with("@\"target\": [\"vulkan\"]"), "spec-unknown-key", "did you mean 'targets'?"},
        {spec_with("@\"colour\": 1"), "spec-unknown-key", "known keys: version, name"},
        {spec_with("\"targets\": [@\"vulcan\"]"), "spec-value", "did you mean 'vulkan'?"},
        {spec_with("\"targets\": [\"vulkan\", @\"vulkan\"]"), "spec-value", "listed twice"},
        {spec_with("\"targets\": [\"cuda\", @{\"cuda\": {}}]"), "spec-value", "'cuda' is listed twice"},
        {spec_with("\"targets\": [{\"cuda\": {\"arch\": [@\"80\"]}}]"), "spec-value", "such as sm_80"},
        {spec_with("\"targets\": [{@\"vulkan\": {}}]"), "spec-unknown-key", "known keys: cuda"},
        {spec_with("\"targets\": [@{}]"), "spec-value", "must not be empty"},
        {spec_with("\"namespace\": @\"a::class\""), "spec-name", "'class'"},
        {spec_with("\"namespace\": @\"a:b\""), "spec-value", "joined by ::"},
        {spec_with("\"defines\": {\"A\": @1}"), "spec-type", "defines.A must be a string, not the number 1"},
        {spec_with("\"defines\": {@\"A B\": \"1\"}"), "spec-name", "'A B'"},
        {spec_with("\"search_paths\": @\"x\""), "spec-type", "must be an array"},
        {spec_with("\"search_paths\": [@\"a\\u0000b\"]"), "spec-value", "control character"},
        {spec_with("\"constants\": {\"N\": @\"5\"}"), "spec-type", "not the string \"5\""},
        {spec_with("\"conformances\": [{\"interface\": \"I\", \"type\": \"T\", \"id\": @-1}]"), "spec-value",
         "at least 0"},
        {spec_with("", "@\"function\": \"g\""), "spec-duplicate-key", "first given at line 2, column 2"},
        {spec_with("", "@\"arguments\": {}"), "spec-unknown-key", "unknown key 'arguments' in calls[0]"},
        {spec_with("", "\"args\": @[\"value\"]"), "spec-type", "calls[0].args must be an object"},
        {spec_with("", "\"args\": {\"x\": @1}"), "spec-type",
         "calls[0].args.x must be a string, an array or an object, not the number 1"},
        {spec_with("", "\"args\": {\"x\": @[]}"), "spec-value", "calls[0].args.x must not be empty"},
        {spec_with("", "\"args\": {\"x\": \"@tensr[1]\"}"), "spec-kind", "did you mean 'tensor'?"},
        {spec_with("", "\"args\": {\"x\": [\"value\", \"tensor[@x]\"]}"), "spec-kind", "expected the rank"},
        {spec_with("", "\"args\": {\"x\": [\"value\", @\" value\"]}"), "spec-value", "listed twice"},
        {spec_with("", "\"args\": {\"x\": @{}}"), "spec-kind", "needs the key 'kind' or 'fields'"},
        {spec_with("", "\"args\": {\"x\": @{\"kind\": \"value\", \"fields\": {\"a\": \"value\"}}}"),
         "spec-kind", "not both"},
        {spec_with("", "\"args\": {\"x\": {\"kind\": \"value\", @\"fromat\": \"r8\"}}"), "spec-unknown-key",
         "did you mean 'format'?"},
        {spec_with("", "\"args\": {\"x\": {\"kind\": \"value\", @\"format\": \"r8\"}}"), "spec-kind-option",
         "'value' has no option 'format'"},
        {spec_with("", "\"args\": {\"x\": {\"kind\": \"tensor<float>[1]\", @\"as\": \"int\"}}"),
         "spec-kind-option", "given twice"},
        {spec_with("", "\"args\": {\"x\": {\"kind\": \"tensor[2]\", \"map\": [0, @0]}}"), "spec-value",
         "listed twice"},
        {spec_with("", "\"args\": {\"x\": {\"kind\": \"tensor[2]\", \"layout\": @\"continuous\"}}"),
         "spec-value", "did you mean 'contiguous'?"},
        {spec_with("", "\"args\": {@\"x y\": \"value\"}"), "spec-name", "'x y'"},
        {spec_with("", "\"result\": \"tensor@\""), "spec-kind", "needs its rank"},
        {spec_with("", "\"threads\": [@0]"), "spec-value", "at least 1"},
        {spec_with("", "\"threads\": @[8, 8, 8, 8]"), "spec-value", "at most 3"},
        {spec_with("", "\"threads\": @[64, 64]"), "spec-value", "4096 threads is too large"},
        {spec_with("", "\"threads\": [@1.5]"), "spec-type", "not the number 1.5"},
        {spec_with("", "\"dispatch\": @\"thread\""), "spec-value", "must be one of threads, groups"},
        {spec_with("", "\"backward\": @\"yes\""), "spec-type", "must be true or false or an object"},
        {spec_with("", "\"backward\": {\"deterministic\": @\"yes\"}"), "spec-value",
         "calls[0].backward.deterministic must be true, false or \"auto\", not the string \"yes\""},
        {spec_with("", "\"args\": {\"x\": {\"kind\": \"value\", \"grad\": @\"Auto\"}}"), "spec-value",
         "did you mean \"auto\"?"},
        {spec_with("", "\"args\": {\"x\": {\"kind\": \"value\", \"grad\": @1}}"), "spec-type",
         "calls[0].args.x.grad must be true, false or \"auto\", not the number 1"},
        {spec_with("", "\"backward\": {@\"input\": [\"a\"]}"), "spec-unknown-key", "did you mean 'inputs'?"},
        {spec_with("", "\"accumulate\": {@\"a.gard\": \"sum\"}"), "spec-value", "with .grad"},
        {spec_with("", "\"accumulate\": {\"result\": @\"add\"}"), "spec-value", "must be one of none, sum"},
        {spec_with("", "\"name\": @\"lambda\""), "spec-name", "reserved"},
    };
    for (const BadCase& bad : cases) {
        expect_bad(bad);
    }
}

TEST(ParseSpec, CollectsAllErrors) {
    const Diagnostics errors =
        errors_of(spec_with("\"target\": [], \"defines\": {\"A\": 1}", "\"args\": {\"x\": \"tensr\"}"));
    ASSERT_EQ(errors.size(), 3U);
    EXPECT_EQ(errors[0].id, "spec-kind");
    EXPECT_EQ(errors[1].id, "spec-unknown-key");
    EXPECT_EQ(errors[2].id, "spec-type");
}

TEST(ParseSpec, RefusesNamesTooLongToCheck) {
    const std::string name(200000, 'a');
    const Diagnostics errors = errors_of(spec_with("", "\"name\": \"" + name + "\""));
    EXPECT_EQ(errors.front().id, "spec-value");
}

}  // namespace
}  // namespace kf::gen
