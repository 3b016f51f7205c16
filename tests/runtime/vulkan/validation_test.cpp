// Tests that the validation layer is heard: a mistake is reported, so silence elsewhere means something.
#include <cstdlib>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Sets an environment variable until it goes.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        const char* old = std::getenv(name);
        was_set_ = old != nullptr;
        old_ = was_set_ ? old : "";
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (was_set_) {
            setenv(name_, old_.c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    bool was_set_ = false;
    std::string old_;
};

TEST(Validation, AMistakeIsCollectedPrintedAndLogged) {
    const std::string log = ::testing::TempDir() + "kf_validation_test.log";
    std::remove(log.c_str());
    const Variable validation("KF_VULKAN_VALIDATION", "1");
    const Variable log_file("KF_VULKAN_VALIDATION_LOG", log);
    ::testing::internal::CaptureStderr();
    {
        const auto device = vulkan::open_vulkan(0);
        EXPECT_THAT(vulkan::validation_messages(*device), IsEmpty());
        // The image reads 24 pushed bytes, the manifest promises 16.
        manifest::Kernel kernel = add_step_kernel();
        kernel.layouts["vulkan"].size = 16;
        const auto made = device->load_kernel(kernel);
        EXPECT_THAT(vulkan::validation_messages(*device),
                    ElementsAre(HasSubstr("VkComputePipelineCreateInfo-layout")));
    }
    const std::string printed = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(printed, HasSubstr("kf: validation: "));
    EXPECT_THAT(printed, ::testing::EndsWith("kf: 1 validation messages\n"));
    std::ifstream file(log);
    std::string line;
    EXPECT_TRUE(std::getline(file, line));
    EXPECT_THAT(line, HasSubstr("VkComputePipelineCreateInfo-layout"));
    std::remove(log.c_str());
}

TEST(Validation, OffUnlessAskedFor) {
    const Variable validation("KF_VULKAN_VALIDATION", "0");
    const auto device = vulkan::open_vulkan(0);
    manifest::Kernel kernel = add_step_kernel();
    kernel.layouts["vulkan"].size = 16;
    const auto made = device->load_kernel(kernel);
    EXPECT_THAT(vulkan::validation_messages(*device), IsEmpty());
}

TEST(Validation, AMissingLayerIsAnErrorRatherThanSilence) {
    const Variable validation("KF_VULKAN_VALIDATION", "1");
    const Variable layers("VK_LAYER_PATH", "/nowhere");
    EXPECT_THAT(
        error_of([] { vulkan::open_vulkan(0); }),
        HasSubstr("no-driver: vulkan: KF_VULKAN_VALIDATION is set but VK_LAYER_KHRONOS_validation is not "
                  "installed"));
}

}  // namespace
}  // namespace kf::test
