// What is said before many kernels are compiled, of plans whose kernels nobody compiles.
#include "run/size_note.h"

#include <gtest/gtest.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;

class SizeNoteTest : public testing::Test {
protected:
    SizeNoteTest()
        : spec_(test::spec_of(
              R"({"function": "blend", "args": {"a": ["value", "tensor[1]", "tensor[2]", "tensor[3]"],
                  "b": ["value", "tensor[1]", "tensor[2]"], "t": ["value", "tensor[1]"], "gain": "value"}},
                 {"function": "one", "args": {"x": "value"}},
                 {"function": "two", "args": {"x": ["value", "tensor[1]"]}},
                 {"function": "three", "args": {"x": ["value", "tensor[1]", "tensor[2]"]}})")) {
        Module module;
        module.module_names = {"functions"};
        module.functions = {function_of("float", "blend",
                                        {{"float", "a"}, {"float", "b"}, {"float", "t"}, {"float", "gain"}}),
                            function_of("float", "one", {{"float", "x"}}),
                            function_of("float", "two", {{"float", "x"}}),
                            function_of("float", "three", {{"float", "x"}})};
        const Outcome<Plan> plan = resolve(spec_, module);
        if (!plan) throw std::runtime_error(format_text(plan.errors().front()));
        plan_ = plan.value();
        kernels_ = collect_kernels(plan_, {CodeTarget::spirv}).value();
    }

    Spec spec_;
    Plan plan_;
    KernelSet kernels_;
};

TEST_F(SizeNoteTest, NamesTheFunctionsWithTheMostKernelsAndWhatMultipliesToThem) {
    const std::string said = size_note(spec_, plan_, kernels_, 200);
    EXPECT_EQ(said.substr(0, said.find('\n')), "functions makes " + std::to_string(kernels_.units.size()) +
                                                   " kernels; 200 are to be compiled. The most are of:");
    std::vector<std::string> lines;
    for (std::size_t at = said.find('\n') + 1; at < said.size(); at = said.find('\n', at) + 1)
        lines.push_back(said.substr(at, said.find('\n', at) - at));
    ASSERT_EQ(lines.size(), 3U) << said;
    const auto ends = [&](std::size_t line, const std::string& end) {
        EXPECT_TRUE(lines[line].ends_with(end)) << said;
    };
    EXPECT_TRUE(lines[0].starts_with("  'blend': ")) << said;
    ends(0, " kernels, of 24 overloads: 4 kinds of 'a' x 3 kinds of 'b' x 2 kinds of 't'");
    EXPECT_TRUE(lines[1].starts_with("  'three': ")) << said;
    ends(1, " kernels, of 3 overloads: 3 kinds of 'x'");
    EXPECT_TRUE(lines[2].starts_with("  'two': ")) << said;
    ends(2, " kernels, of 2 overloads: 2 kinds of 'x'");
}

TEST_F(SizeNoteTest, FewAreNotWorthAWord) {
    EXPECT_EQ(size_note(spec_, plan_, kernels_, many_kernels - 1), "");
    EXPECT_EQ(size_note(spec_, plan_, kernels_, 0), "");
}

}  // namespace
}  // namespace kf::gen
