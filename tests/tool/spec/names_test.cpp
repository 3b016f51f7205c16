// Which words can name what is generated.
#include "spec/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

using testing::ElementsAre;

TEST(Names, KnowsReservedWords) {
    for (const char* word :
         {"class", "lambda", "None", "kf", "std", "kernelfunctions", "co_await", "nonlocal"}) {
        EXPECT_TRUE(is_reserved(word)) << word;
    }
    for (const char* word : {"add", "Class", "none", "polynomial", ""}) {
        EXPECT_FALSE(is_reserved(word)) << word;
    }
}

TEST(Names, KnowsIdentifiers) {
    EXPECT_TRUE(is_identifier("_a1"));
    for (const char* word : {"", "1a", "a-b", "a::b", "\xC3\xA4"}) {
        EXPECT_FALSE(is_identifier(word)) << word;
    }
}

TEST(Names, SplitsQualifiedNames) {
    EXPECT_THAT(name_parts("ns::Box<vector<float, 3>>.get"), ElementsAre("ns", "Box", "get"));
    EXPECT_THAT(name_parts("f"), ElementsAre("f"));
}

TEST(Names, FirstNamesCanBeTakenOff) {
    EXPECT_EQ(without_names("a::b.f<c.d>", 2), "f<c.d>");
    EXPECT_EQ(without_names("a.f", 0), "a.f");
    EXPECT_EQ(without_names("a.operator<", 1), "operator<");
    EXPECT_EQ(without_names("Box<int>.f", 1), std::nullopt);
    EXPECT_EQ(without_names("a.f", 2), std::nullopt);
}

TEST(Names, NamesTheHostFunctionAfterTheFunction) {
    EXPECT_EQ(default_host_name("f"), "f");
    EXPECT_EQ(default_host_name("f<float, 3>"), "f");
    EXPECT_EQ(default_host_name("Scaler.scale_value"), "scale_value");
    EXPECT_EQ(default_host_name("Ray.__init"), "Ray");
    EXPECT_EQ(default_host_name("Box<vector<float, 3>>.__init"), "Box");
    EXPECT_EQ(default_host_name("ns::f"), "f");
}

}  // namespace
}  // namespace kf::gen
