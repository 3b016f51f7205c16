// How many kernels a call multiplies into.
#include "spec/limits.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

CallSpec call_with(std::initializer_list<std::size_t> alternatives) {
    CallSpec call;
    call.name = "f";
    call.location = {"s.json", 7, 3};
    for (const std::size_t count : alternatives) {
        call.arguments.push_back({std::string(1, static_cast<char>('a' + call.arguments.size())),
                                  std::vector<KindSpec>(count),
                                  {}});
    }
    return call;
}

TEST(KernelProduct, MultipliesWhatTheCallStates) {
    CallSpec call = call_with({1, 3, 4});
    call.backward.enabled = true;
    const KernelProduct product = kernel_product(call);
    EXPECT_EQ(product.total(), 24U);
    EXPECT_EQ(product.text(), "b: 3 * c: 4 * passes: 2 = 24");
    EXPECT_EQ(kernel_product(call_with({1, 1})).text(), "1");
}

TEST(KernelProduct, CountsFields) {
    CallSpec call = call_with({1});
    call.arguments[0].alternatives[0].fields = {{"x", std::vector<KindSpec>(3), {}},
                                                {"y", std::vector<KindSpec>(2), {}}};
    call.arguments[0].alternatives.emplace_back();
    EXPECT_EQ(kernel_product(call).total(), 7U);
}

TEST(KernelLimit, IsExact) {
    EXPECT_FALSE(check_kernel_limit(call_with({}), kernel_product(call_with({16, 16}))));
    const CallSpec call = call_with({16, 17});
    const auto error = check_kernel_limit(call, kernel_product(call));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->id, "spec-too-many-kernels");
    EXPECT_EQ(error->location, call.location);
    EXPECT_NE(error->message.find("a: 16 * b: 17 = 272"), std::string::npos) << error->message;
}

TEST(KernelLimit, SaturatesInsteadOfWrapping) {
    CallSpec call;
    for (int i = 0; i < 64; ++i) {
        call.arguments.push_back({"x", std::vector<KindSpec>(4), {}});
    }
    EXPECT_TRUE(check_kernel_limit(call, kernel_product(call)));
}

}  // namespace
}  // namespace kf::gen
