// Replays what the fuzzers have found worth keeping: each input is read, and none may end the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/readers.h"

namespace kf::fuzz {
namespace {

using Reader = void (*)(std::span<const std::byte>);

std::size_t replay(const std::string& name, Reader reader) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(KF_SOURCE_DIR "/tests/fuzz/corpus/" + name))
        paths.push_back(entry.path());
    std::ranges::sort(paths);
    for (const std::filesystem::path& path : paths) {
        SCOPED_TRACE(path);
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        // A copy of exactly its size lets AddressSanitizer see the first byte that is read behind it.
        EXPECT_NO_THROW(reader(std::as_bytes(std::span(bytes))));
    }
    return paths.size();
}

TEST(Corpus, SpecsAreReadOrRefused) { EXPECT_GT(replay("spec", read_spec), 50U); }

TEST(Corpus, ArtifactsAreReadOrRefused) { EXPECT_GT(replay("artifact", read_artifact), 30U); }

}  // namespace
}  // namespace kf::fuzz
