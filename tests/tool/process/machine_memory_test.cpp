// How much memory there is, with and without control groups that allow less.
#include "process/machine_memory.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kf::process {
namespace {

namespace fs = std::filesystem;

class MachineMemory : public testing::Test {
protected:
    void SetUp() override { fs::create_directories(folder_ / "memory"); }
    void TearDown() override { fs::remove_all(folder_); }
    void write(const char* file, const char* text) const { std::ofstream(folder_ / file) << text; }

    fs::path folder_ = fs::temp_directory_path() / ("kf_groups_" + std::to_string(getpid()));
};

TEST_F(MachineMemory, IsTheMachinesWithoutAGroup) {
    EXPECT_EQ(machine_memory(folder_), static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
    EXPECT_LE(machine_memory(), machine_memory(folder_));
}

TEST_F(MachineMemory, IsWhatItsGroupAllows) {
    const std::uint64_t all = machine_memory(folder_);
    write("memory.max", "max\n");
    EXPECT_EQ(machine_memory(folder_), all);
    write("memory.max", "104857600\n");
    EXPECT_EQ(machine_memory(folder_), 104857600U);
    write("memory.max", "9223372036854771712\n");
    EXPECT_EQ(machine_memory(folder_), all);
    write("memory/memory.limit_in_bytes", "52428800\n");
    EXPECT_EQ(machine_memory(folder_), 52428800U);
}

}  // namespace
}  // namespace kf::process
