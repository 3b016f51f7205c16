// What a spec's "aliases" may name.
#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::ids;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;

Outcome<Plan> plan_of_aliases(const std::string& names) {
    Function function = function_of("void", "f", {{"float", "a"}, {"float", "b"}, {"float", "c"}});
    for (std::size_t i = 0; i < 2; ++i) {
        Type& type = function.parameters[i].type;
        type = {};
        type.kind = TypeKind::buffer;
        type.is_writable = true;
        type.element = {test::type_named("float")};
    }
    return plan_of(R"({"function": "f", "args": {"a": "rwbuffer", "b": "rwbuffer", "c": "tensor[1]"},
                       "aliases": [)" +
                       names + "]}",
                   {function});
}

TEST(Aliases, AreMarked) {
    const auto plan = plan_of_aliases(R"("a", "b")");
    ASSERT_TRUE(plan.ok());
    const auto& arguments = plan.value().functions.front().calls.front().arguments;
    EXPECT_TRUE(arguments[0].host.aliases && arguments[1].host.aliases);
    EXPECT_FALSE(arguments[2].host.aliases);
}

TEST(Aliases, AreArgumentsThatTheFunctionWrites) {
    const auto read = plan_of_aliases(R"("a", "c")");
    ASSERT_THAT(ids(read), ElementsAre("alias-argument"));
    EXPECT_THAT(read.errors()[0].message, HasSubstr("argument 'c' isn't a buffer or a tensor that"));
    EXPECT_EQ(read.errors()[0].location.line, 2);
    const auto unknown = plan_of_aliases(R"("a", "d")");
    ASSERT_THAT(ids(unknown), ElementsAre("alias-unknown"));
    EXPECT_THAT(unknown.errors()[0].message, HasSubstr("'f' has no argument 'd'"));
}

}  // namespace
}  // namespace kf::gen
