// Object files that hold artifacts, for Windows. Programs of them are linked here, and read.
#include "artifact/coff_object.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tool/emit/scratch.h"

namespace kf::gen {
namespace {

constexpr std::string_view mark = "it is at the address";

/// Refers to the bytes as generated sources do.
const char* const user_code = R"(extern "C" const unsigned char kf_artifact_of_a_long_name[5];
extern "C" const struct {
    char mark[24];
    const unsigned char* address;
} place = {"it is at the address", kf_artifact_of_a_long_name};
extern "C" int start(int at) { return place.address[at]; }
)";

template <class T>
T number_at(const std::string& file, std::size_t at) {
    T value{};
    std::memcpy(&value, file.substr(at, sizeof(T)).data(), sizeof(T));
    return value;
}

/// What is in a program for Windows at an address, in which section: ".rdata: abc".
std::string at_address(const std::string& program, std::uint64_t address, std::size_t size) {
    const std::size_t header = number_at<std::uint32_t>(program, 0x3c) + 4;  // behind "PE"
    const std::size_t optional_header = header + 20;
    address -= number_at<std::uint64_t>(program, optional_header + 24);  // where it is loaded
    std::size_t section = optional_header + number_at<std::uint16_t>(program, header + 16);
    for (int count = number_at<std::uint16_t>(program, header + 2); count > 0; --count, section += 40) {
        const std::uint64_t offset = address - number_at<std::uint32_t>(program, section + 12);
        if (offset >= number_at<std::uint32_t>(program, section + 8)) continue;
        return program.substr(section, 8).c_str() +
               (": " + program.substr(number_at<std::uint32_t>(program, section + 20) + offset, size));
    }
    return "nothing";
}

// Two libraries of a program may hold the same artifact.
TEST(CoffObject, LinksTwiceIntoAProgram) {
    const std::string bytes("a\0b\xff\n", 5);
    testing::ScratchFolder folder;
    folder.write("user.cpp", user_code);
    for (const auto& [machine, triple] :
         {std::pair(CoffMachine::x86_64, "x86_64"), std::pair(CoffMachine::arm64, "aarch64")}) {
        const std::string object =
            coff_object(machine, "kf_artifact_of_a_long_name", std::as_bytes(std::span(bytes)));
        folder.write("first.obj", object);
        folder.write("second.obj", object);
        EXPECT_EQ(folder.complaints("clang++ -ffreestanding -c user.cpp -o user.obj --target=" +
                                    std::string(triple) + "-pc-windows-msvc"),
                  "");
        EXPECT_EQ(
            folder.complaints("lld-link /wx /nodefaultlib /entry:start /subsystem:console /out:user.exe "
                              "user.obj first.obj second.obj"),
            "");
        const std::string program = folder.read("user.exe");
        const std::size_t found = program.find(mark);
        ASSERT_NE(found, std::string::npos) << triple;
        const auto address = number_at<std::uint64_t>(program, found + 24);
        EXPECT_EQ(at_address(program, address, bytes.size()), ".rdata: " + bytes) << triple;
        EXPECT_EQ(address % 16, 0U) << triple;
        // Once alone.
        EXPECT_EQ(program.find(bytes), program.rfind(bytes)) << triple;
    }
}

}  // namespace
}  // namespace kf::gen
