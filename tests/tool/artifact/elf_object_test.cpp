// Object files that hold artifacts.
#include "artifact/elf_object.h"

#include <gtest/gtest.h>

#include "tool/emit/scratch.h"

namespace kf::gen {
namespace {

std::string object(ElfMachine machine, const std::string& bytes) {
    return elf_object(machine, "kf_bytes", std::as_bytes(std::span(bytes)));
}

const char* const user_code = R"(#include <cstdint>
extern "C" __attribute__((visibility("hidden"))) const unsigned char kf_bytes[5];
int main() {
    const char wanted[] = "a\0b\xff";
    for (int i = 0; i < 5; ++i)
        if (kf_bytes[i] != static_cast<unsigned char>(wanted[i])) return 1;
    return reinterpret_cast<std::uintptr_t>(kf_bytes) % 16 == 0 ? 0 : 2;
}
)";

// Two libraries of a program may hold the same artifact.
TEST(ElfObject, LinksTwiceIntoAProgram) {
    testing::ScratchFolder folder;
    const std::string bytes = object(ElfMachine::x86_64, std::string("a\0b\xff", 5));
    folder.write("first.o", bytes);
    folder.write("second.o", bytes);
    folder.write("user.cpp", user_code);
    for (const char* compiler : {"g++", "g++ -O2 -flto", "clang++ -fuse-ld=lld"}) {
        EXPECT_EQ(folder.complaints(std::string(compiler) +
                                    " -Wl,--fatal-warnings user.cpp first.o second.o -o user && ./user"),
                  "")
            << compiler;
    }
}

TEST(ElfObject, HasNothingThatKeepsAProgramFromBeingGuarded) {
    testing::ScratchFolder folder;
    folder.write("x86_64.o", object(ElfMachine::x86_64, "kernels"));
    folder.write("aarch64.o", object(ElfMachine::aarch64, "kernels"));
    EXPECT_EQ(folder.complaints("readelf -nW x86_64.o | grep -q 'x86 feature: IBT, SHSTK'"), "");
    EXPECT_EQ(folder.complaints("readelf -nW aarch64.o | grep -q 'AArch64 feature: BTI, PAC'"), "");
    EXPECT_EQ(folder.complaints("ld.lld -r -m aarch64linux --fatal-warnings aarch64.o -o linked.o"), "");
    EXPECT_EQ(folder.complaints("readelf -hW linked.o | grep -q 'Machine: *AArch64'"), "");
}

}  // namespace
}  // namespace kf::gen
