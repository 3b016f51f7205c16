// What kernels report, through the generated header, on each device.
#include <string>
#include <vector>

#include "reports.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReportsTest : public ::testing::TestWithParam<std::string> {
protected:
    ReportsTest() {
        device_.show_lines([this](std::string_view line) { lines_.emplace_back(line); });
    }

    /// What the device's wait() throws.
    std::string error(ErrorCode code) {
        try {
            device_.wait();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code);
            return error.what();
        }
        return "nothing";
    }

    Device device_ = Device::open(GetParam());
    reports::Module module_{device_};
    std::vector<std::string> lines_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReportsTest);
INSTANTIATE_TEST_SUITE_P(Devices, ReportsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(ReportsTest, LinesComeOutOfWait) {
    (void)module_.say(device_.tensor<float>({0.5F, 1.5F}), 7);
    EXPECT_THAT(lines_, IsEmpty());
    device_.wait();
    EXPECT_THAT(lines_, ElementsAre("say, launch 1 [1]: x=1.50 at 7\n"));
    lines_.clear();
    device_.wait();
    EXPECT_THAT(lines_, IsEmpty());
}

TEST_P(ReportsTest, WrongIndicesAndAssertionsAreErrors) {
    const auto y = device_.zeros<float>({8});
    module_.scatter(y, device_.tensor<std::int32_t>({1, 1000000}), device_.tensor<float>({5, 6}));
    EXPECT_THAT(error(ErrorCode::index_out_of_range),
                HasSubstr("scatter, launch 1 [1]: argument 'y': index [1000000] is outside of extents [8]"));
    EXPECT_THAT(y.to_vector(), ElementsAre(0, 5, 0, 0, 0, 0, 0, 0));
    (void)module_.root(device_.tensor<float>({4, -4}));
    EXPECT_THAT(error(ErrorCode::assertion_failed), HasSubstr("root, launch 2 [1]: reports.slang:"));
    EXPECT_TRUE(device_.try_wait());
    EXPECT_THAT(lines_, IsEmpty());
}

TEST_P(ReportsTest, AVariantChecks) {
    const auto x = device_.tensor<float>({1, 2, 3});
    const auto y = module_.either.options({.variant = "safe"})(x, device_.tensor<std::int32_t>({2, 3}));
    EXPECT_THAT(error(ErrorCode::index_out_of_range), HasSubstr("argument 'x': index [3]"));
    EXPECT_THAT(y.to_vector(), ElementsAre(4, 1));
}

}  // namespace
}  // namespace kf::test
