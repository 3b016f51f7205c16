// Options out of compile databases.
#include "libclang/compile_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kf::gen {
namespace {

using testing::ElementsAre;

constexpr const char* database = R"([
  {"directory": "/p/build", "file": "/p/src/main.cpp", "command": "c++ -DA=\"x y\" '-DB=1' -I../inc -isystem /sys -O2 -Wall -std=c++20 -o m.o -c /p/src/main.cpp"},
  {"directory": "/p/build", "file": "../src/deep/scene.cpp", "arguments": ["c++", "-I", "../deep", "-U", "Z", "--target=aarch64-linux-gnu", "-MD", "-c", "x"]},
  {"directory": "/p/build", "file": "/p/src/deep/a.c", "command": "cc -DC"}])";

Outcome<std::vector<std::string>> options_in(const std::string& text, const std::string& header,
                                             const std::string& beside, const Location& place) {
    const auto commands = parse_compile_commands(text, place);
    if (!commands) return commands.errors();
    return options_of(commands.value(), header, beside, place);
}

std::vector<std::string> chosen(const std::string& header, const std::string& beside) {
    const auto options = options_in(database, header, beside, {});
    if (options) return options.value();
    ADD_FAILURE() << format_text(options.errors().front());
    return {};
}

TEST(CompileCommands, TakesTheSourceOfTheHeadersName) {
    EXPECT_THAT(chosen("scene.h", "/p/src"),
                ElementsAre("-I", "/p/deep", "-U", "Z", "--target=aarch64-linux-gnu"));
}

TEST(CompileCommands, OrTheNearestSource) {
    EXPECT_THAT(chosen("ray.h", "/p/src"),
                ElementsAre("-DA=x y", "-DB=1", "-I", "/p/inc", "-isystem", "/sys", "-std=c++20"));
    EXPECT_THAT(chosen("ray.h", "/p/src/deep"),
                ElementsAre("-I", "/p/deep", "-U", "Z", "--target=aarch64-linux-gnu"));
}

TEST(CompileCommands, LeavesOutWhatOnlyGccKnows) {
    const auto options = options_in(
        R"([{"directory": "/", "file": "/a.cpp", "command": "g++ -march=haswell -mavx2 -mno-avx256-split-unaligned-load -mtune=native -fshort-enums -fpack-struct=4 -fno-exceptions -fconcepts-diagnostics-depth=2 -fabi-version=11 -stdlib=libc++ -imacros m.h -c a.cpp"}])",
        "a.h", "/", {});
    ASSERT_TRUE(options);
    EXPECT_THAT(options.value(), ElementsAre("-march=haswell", "-mavx2", "-fshort-enums", "-fpack-struct=4",
                                             "-fno-exceptions", "-stdlib=libc++", "-imacros", "/m.h"));
}

TEST(CompileCommands, RefusesOtherFiles) {
    const Location place{"a.kf.json", 2, 3};
    const auto text = [&](const std::string& other) {
        const auto options = options_in(other, "a.h", "/", place);
        return options ? std::string() : format_text(options.errors().front());
    };
    for (const char* other : {"", "{}", "[", "7"}) {
        EXPECT_EQ(text(other),
                  "a.kf.json:2:3: error: this is no compile database: expected a list of commands "
                  "[compile-commands]\n    note: CMake writes one with CMAKE_EXPORT_COMPILE_COMMANDS=ON");
    }
    for (const char* other : {"[]", "[7]", R"([{"file": 3}])", R"([{"directory": "/", "file": "a.c"}])"}) {
        EXPECT_EQ(text(other),
                  "a.kf.json:2:3: error: the compile database has no C++ source [compile-commands]\n"
                  "    note: give the options by --cxx-option");
    }
}

}  // namespace
}  // namespace kf::gen
