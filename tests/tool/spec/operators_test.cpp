// Names of operators.
#include "spec/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/names.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;

std::string symbol(std::string_view function) {
    const auto found = operator_symbol(function);
    return found ? std::string(function.substr(found->begin, found->size)) : "none";
}

TEST(Operators, SymbolsEndWhereGenericArgumentsBegin) {
    EXPECT_EQ(symbol("operator*"), "*");
    EXPECT_EQ(symbol("Line.operator*="), "*=");
    EXPECT_EQ(symbol("ns::operator<"), "<");
    EXPECT_EQ(symbol("operator<<"), "<<");
    EXPECT_EQ(symbol("operator<<float>"), "<");
    EXPECT_EQ(symbol("operator<<<float>"), "<<");
    EXPECT_EQ(symbol("operator<=<Both<int>, 3>"), "<=");
    EXPECT_EQ(symbol("Both<float>.operator()"), "()");
    EXPECT_EQ(symbol("Both<float>.operator[]"), "[]");
}

TEST(Operators, OtherFunctionsHaveNoSymbol) {
    for (const char* name : {"f", "f<float>", "operator", "my_operator*", "Q.operator_f", "operator<float>"})
        EXPECT_EQ(symbol(name), "none") << name;
}

TEST(Operators, NamesKeepTheSymbol) {
    EXPECT_THAT(name_parts("ns::Both<int>.operator<=<float>"), ElementsAre("ns", "Both", "operator<="));
    EXPECT_EQ(plain_name("ns::operator<<float>"), "ns.operator<");
    EXPECT_TRUE(has_generic_arguments("Both<int>.operator<"));
    EXPECT_TRUE(has_generic_arguments("operator*<int>"));
    EXPECT_FALSE(has_generic_arguments("operator<"));
    EXPECT_FALSE(has_generic_arguments("Line.operator>>="));
}

TEST(Operators, HostNamesAreWords) {
    EXPECT_EQ(default_host_name("operator*", 2), "multiply");
    EXPECT_EQ(default_host_name("Line.operator-", 1), "negate");
    EXPECT_EQ(default_host_name("ns::operator-", 2), "subtract");
    EXPECT_EQ(default_host_name("operator<<float>", 2), "less");
    EXPECT_EQ(default_host_name("Line.operator()", 2), "apply");
    EXPECT_EQ(default_host_name("Line.operator[]", 2), "at");
}

}  // namespace
}  // namespace kf::gen
