// What tools are told: the names of kernels, and of calls over their commands.
#include "vulkan/labels.h"

#include <cstdlib>

#include "runtime/fake_driver/vulkan.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// An environment variable, until it goes; null unsets it.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        const char* const old = std::getenv(name);
        was_set_ = old != nullptr;
        old_ = was_set_ ? old : "";
        value != nullptr ? setenv(name, value, 1) : unsetenv(name);
    }
    ~Variable() { was_set_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    bool was_set_ = false;
    std::string old_;
};

class LabelsTest : public ::testing::Test {
protected:
    LabelsTest() { options_.get_instance_proc_addr = fake_.entry_point(); }

    void run(bool shows_labels) {
        const auto device = vulkan::open_vulkan(0, options_);
        EXPECT_EQ(device->shows_labels(), shows_labels);
        const auto kernel = device->load_kernel(add_step_kernel());
        const auto from = upload(*device, {1, 2, 3});
        const auto to = device->allocate(12);
        add_step(*device, kernel, to, from, 1);
        auto recorder = device->make_recorder();
        const AddStep block{to->address, from->address, 3, 2};
        const driver::Use uses[] = {{to, true}, {from, false}};
        recorder->dispatch(
            {kernel.get(), {1, 1, 1}, std::as_bytes(std::span(&block, 1)), uses, {}, "f.backward"});
        device->submit(std::move(recorder));
        EXPECT_EQ(read(*device, to), (Words{3, 4, 5}));
        EXPECT_THAT(vulkan::validation_messages(*device), IsEmpty());
    }

    // Tests of this program run with the validation layer, which wants labels.
    Variable validation_{"KF_VULKAN_VALIDATION", nullptr};
    FakeVulkan fake_;
    vulkan::OpenOptions options_;
};

TEST_F(LabelsTest, AreForThoseWhoAsk) {
    const Variable labels("KF_LABELS", "1");
    run(true);
    EXPECT_THAT(fake_.labels, ElementsAre("add_step", "f.backward"));
    EXPECT_THAT(fake_.names, ElementsAre("add_step", "add_step"));  // shader module, pipeline
}

TEST_F(LabelsTest, AreForTheValidationLayer) {
    const Variable validation("KF_VULKAN_VALIDATION", "1");
    run(true);
    EXPECT_THAT(fake_.names, Contains("add_step"));
}

TEST_F(LabelsTest, AreForToolsThatAreLoaded) {
    const Variable renderdoc("ENABLE_VULKAN_RENDERDOC_CAPTURE", "1");
    EXPECT_TRUE(vulkan::labels_wanted());
    const Variable labels("KF_LABELS", "0");
    EXPECT_FALSE(vulkan::labels_wanted());
}

TEST_F(LabelsTest, AreForNobodyElse) {
    run(false);
    EXPECT_THAT(fake_.labels, IsEmpty());
    EXPECT_THAT(fake_.names, IsEmpty());
}

TEST_F(LabelsTest, AreDoneWithoutWhereTheyAreUnknown) {
    const Variable labels("KF_LABELS", "1");
    fake_.no_extensions = true;
    run(false);
}

}  // namespace
}  // namespace kf::test
