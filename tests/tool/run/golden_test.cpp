// The folders of tests/golden/: each holds a Slang module, its spec and, for review, all that kfgen writes
// for them.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "core/artifact.h"
#include "core/sha256.h"
#include "kernels/collect.h"
#include "run/generate.h"
#include "tool/emit/scratch.h"

namespace kf::gen {
namespace {

using std::filesystem::path;

const path goldens = path(KF_SOURCE_DIR) / "tests/golden";

/// The folders' names; the files in them have those names, too.
std::vector<std::string> golden_names() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(goldens))
        names.insert(entry.path().filename().string());
    return {names.begin(), names.end()};
}

std::string read(const path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

std::string described(const Diagnostics& errors) {
    std::string text;
    for (const Diagnostic& error : errors) text += format_text(error) + "\n";
    return text;
}

/// The artifact's hash changes with the versions of kfgen and Slang, and with every kernel: goldens hold
/// zeros in its place.
void forget_hash(std::string& source, const std::string& artifact) {
    const std::string hash = hex_digest(artifact);
    const std::size_t at = source.find(hash);
    ASSERT_NE(at, std::string::npos) << "the source doesn't name its artifact";
    source.replace(at, hash.size(), std::string(hash.size(), '0'));
}

/// What `kfgen generate NAME.kf.json --torch-tests --no-embed` writes, by file name, and the text of the
/// kernels in its artifact, which no file holds.
struct Written {
    std::map<std::string, std::string> files;
    manifest::Manifest manifest;
};

void generate(const std::string& name, Written& written) {
    DiskFileSystem disk;
    const CommandLine line = parse_command_line({"generate", (goldens / name / (name + ".kf.json")).string(),
                                                 "-o", "out", "--torch-tests", "--no-embed", "--werror"},
                                                disk, "");
    ASSERT_FALSE(line.done) << line.text;
    const Outcome<Spec> spec = load_spec(line.options, disk);
    ASSERT_TRUE(spec) << described(spec.errors());
    const OutputPaths paths = output_paths(spec.value(), line.options);
    const Outcome<Generated> generated = generate_files(spec.value(), line.options, paths);
    ASSERT_TRUE(generated) << described(generated.errors());
    EXPECT_EQ(described(generated.warnings()), "");
    for (const OutputFile& file : generated.value().files)
        written.files[file.path.filename().string()] = file.content;

    const std::string artifact = written.files.extract(paths.artifact.filename().string()).mapped();
    written.manifest = artifact::read(std::as_bytes(std::span(artifact)));
    forget_hash(written.files.at(paths.source.filename().string()), artifact);
    // An empty file says nothing to a reviewer.
    EXPECT_EQ(written.files.extract(paths.py_typed.filename().string()).mapped(), "");

    const Outcome<KernelSet> kernels = collect_kernels(generated.value().plan, {CodeTarget::spirv});
    ASSERT_TRUE(kernels) << described(kernels.errors());
    std::string& texts = written.files["kernels.slang"];
    std::vector<std::string> hashes;
    for (const KernelUnit& unit : kernels.value().units) {
        texts += (texts.empty() ? "" : "\n") + unit.sources.at(CodeTarget::spirv).source.text;
        hashes.push_back(unit.source_hash);
    }
    std::vector<std::string> compiled;
    for (const manifest::Kernel& kernel : written.manifest.kernels) compiled.push_back(kernel.source_hash);
    EXPECT_EQ(compiled, hashes) << "the artifact's kernels are of other texts";
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, IsWhatKfgenWrites) {
    const path folder = goldens / GetParam();
    Written written;
    ASSERT_NO_FATAL_FAILURE(generate(GetParam(), written));
    const testing::ScratchFolder scratch;
    const std::string how_to_accept = "To accept what is generated now: KF_ACCEPT_GOLDENS=1 " +
                                      std::filesystem::read_symlink("/proc/self/exe").string();
    for (const auto& [name, text] : written.files) {
        if (std::getenv("KF_ACCEPT_GOLDENS") != nullptr) write(folder / name, text);
        if (read(folder / name) == text) continue;
        scratch.write(name, text);
        ADD_FAILURE() << scratch.complaints("diff -uN '" + (folder / name).string() + "' " + name)
                      << how_to_accept;
    }
    std::set<std::string> known{GetParam() + ".slang", GetParam() + ".kf.json"};
    for (const auto& [name, text] : written.files) known.insert(name);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        EXPECT_TRUE(known.contains(entry.path().filename().string())) << entry.path() << " isn't generated";

    // The kernels that those texts became.
    for (std::size_t i = 0; i < written.manifest.kernels.size(); ++i) {
        for (const manifest::Image& image : written.manifest.kernels[i].images) {
            ASSERT_EQ(image.format, "spirv");
            scratch.write(std::to_string(i) + ".spv",
                          {reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()});
        }
    }
    EXPECT_EQ(
        scratch.complaints("for f in *.spv; do spirv-val --target-env vulkan1.3 --scalar-block-layout $f "
                           "|| { echo $f; exit 1; }; done"),
        "");
}

INSTANTIATE_TEST_SUITE_P(Folders, Golden, ::testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

class GoldenCompiled : public ::testing::TestWithParam<std::string> {
protected:
    static std::string complaints(const std::string& compiler) {
        const std::string folder = (goldens / GetParam()).string();
        return testing::ScratchFolder().complaints(
            compiler + " -std=c++20 -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror -fsyntax-only -I" +
            folder + " -I" KF_SOURCE_DIR "/runtime/include " + folder + "/" + GetParam() + ".cpp");
    }
};

TEST_P(GoldenCompiled, ByGcc) { EXPECT_EQ(complaints("g++"), ""); }
TEST_P(GoldenCompiled, ByClang) { EXPECT_EQ(complaints("clang++"), ""); }

INSTANTIATE_TEST_SUITE_P(Folders, GoldenCompiled, ::testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST(GoldenChecked, MypyTakesModulesAndStubs) {
    const testing::ScratchFolder folder;
    for (const std::string& name : golden_names()) {
        folder.write(name + ".pyi", read(goldens / name / (name + ".pyi")));
        folder.write(name + ".py", read(goldens / name / (name + ".py")));
    }
    const std::string mypy = "MYPYPATH=" KF_SOURCE_DIR "/runtime/python:. " KF_PYTHON
                             " -m mypy --strict --follow-imports=silent --no-error-summary --cache-dir ";
    EXPECT_EQ(folder.complaints(mypy + "cache *.pyi"), "");
    // The modules themselves, without the stubs that hide them. They give methods to classes, which only
    // stubs declare.
    EXPECT_EQ(folder.complaints("mkdir plain && cp *.py plain && cd plain && " + mypy +
                                "../cache *.py >found 2>&1; ! grep -v 'error: \"type\\[[A-Za-z]*\\]\" has no "
                                "attribute' found"),
              "");
}

}  // namespace
}  // namespace kf::gen
