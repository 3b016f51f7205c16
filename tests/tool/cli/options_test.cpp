// The command line: what it sets, and what it says when it is wrong.
#include "cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CommandLine parse(const std::vector<std::string>& arguments) {
    for (const char* name : {"KFGEN_CACHE_DIR", "KFGEN_CACHE_SIZE", "XDG_CACHE_HOME", "HOME"})
        ::unsetenv(name);
    return parse_command_line(arguments, FakeFileSystem(), "1.2.3");
}

Options options(const std::vector<std::string>& arguments) {
    const CommandLine line = parse(arguments);
    EXPECT_FALSE(line.done) << line.text;
    return line.options;
}

TEST(CommandLine, ReadsASimpleCall) {
    Options expected;
    expected.command = Command::generate;
    expected.spec = "m.kf.json";
    expected.output_directory = "out";
    EXPECT_EQ(options({"generate", "m.kf.json", "-o", "out"}), expected);
    EXPECT_EQ(options({"generate", "--output-dir=out", "m.kf.json"}), expected);
    EXPECT_EQ(options({"check", "m.kf.json"}).command, Command::check);
    EXPECT_EQ(options({"list", "m.kf.json"}).command, Command::list);
    const Options init = options({"init", "m.slang", "-o", "-", "--force"});
    EXPECT_EQ(init.command, Command::init);
    EXPECT_EQ(init.module, "m.slang");
    EXPECT_EQ(init.output, "-");
    EXPECT_TRUE(init.force);
    const Options inspect = options({"inspect", "m.kfa"});
    EXPECT_EQ(inspect.command, Command::inspect);
    EXPECT_EQ(inspect.artifact, "m.kfa");
    EXPECT_EQ(inspect.spec, "");
}

TEST(CommandLine, ReadsWhatIsToBeExplained) {
    const Options all = options({"explain", "m.kf.json", "f"});
    EXPECT_EQ(all.command, Command::explain);
    EXPECT_EQ(all.spec, "m.kf.json");
    EXPECT_EQ(all.explain.function, "f");
    EXPECT_TRUE(all.explain.shows(Shown::summary) && all.explain.shows(Shown::slang) &&
                all.explain.shows(Shown::code));
    EXPECT_FALSE(all.explain.shows(Shown::ptx)) << "long, and made for each architecture";
    const Options some = options({"explain", "--show", "ptx", "--show=code", "m.kf.json", "f", "--kernel",
                                  "3", "--kernel", "backward"});
    EXPECT_THAT(some.explain.shown, ElementsAre(Shown::ptx, Shown::code));
    EXPECT_THAT(some.explain.kernels, ElementsAre("3", "backward"));
    EXPECT_FALSE(some.explain.shows(Shown::summary));
    const CommandLine none = parse({"explain", "m.kf.json"});
    EXPECT_EQ(none.exit_code, exit_command_line);
    EXPECT_THAT(none.text, HasSubstr("'kfgen explain' takes a function of the spec, and none is given"));
    EXPECT_THAT(none.text, HasSubstr("'kfgen list m.kf.json' prints them"));
    EXPECT_THAT(parse({"explain", "m", "f", "--show", "sass"}).text, HasSubstr("--show"));
    EXPECT_THAT(parse({"explain", "m", "f", "--python"}).text, HasSubstr("has no use for it"));
}

TEST(CommandLine, TheCacheIsInTheUsersFolderUnlessAskedOtherwise) {
    EXPECT_EQ(options({"check", "m"}).cache, "");
    const auto cache = [](const std::vector<std::string>& arguments) {
        return parse_command_line(arguments, FakeFileSystem(), "").options.cache;
    };
    ::setenv("HOME", "/home/one", 1);
    EXPECT_EQ(cache({"check", "m"}), "/home/one/.cache/kernelfunctions");
    ::setenv("XDG_CACHE_HOME", "/caches", 1);
    EXPECT_EQ(cache({"check", "m"}), "/caches/kernelfunctions");
    EXPECT_EQ(cache({"check", "m", "--no-cache"}), "");
    ::setenv("XDG_CACHE_HOME", "not/absolute", 1);
    EXPECT_EQ(cache({"check", "m"}), "/home/one/.cache/kernelfunctions");
    ::setenv("KFGEN_CACHE_DIR", "given", 1);
    EXPECT_EQ(cache({"check", "m"}), "given");
    EXPECT_EQ(cache({"check", "m", "--no-cache"}), "");
}

TEST(CommandLine, CompilesAlwaysWithoutACache) {
    EXPECT_TRUE(options({"check", "m", "--no-cache"}).compiles_always);
    EXPECT_FALSE(options({"check", "m"}).compiles_always);
}

TEST(CommandLine, ReadsSizesAndLimits) {
    EXPECT_EQ(options({"check", "m"}).cache_size, std::uint64_t{1} << 30);
    EXPECT_EQ(options({"check", "m", "--cache-size", "500M"}).cache_size, std::uint64_t{500} << 20);
    EXPECT_EQ(options({"check", "m", "--max-memory", "4G"}).max_memory, std::uint64_t{4} << 30);
    EXPECT_EQ(options({"check", "m", "--max-memory", "0"}).max_memory, 0U);
    EXPECT_EQ(options({"check", "m"}).max_memory, std::nullopt);
    EXPECT_EQ(options({"check", "m", "--timeout", "2.5"}).timeout, 2.5);
    EXPECT_TRUE(options({"check", "m", "--no-progress"}).no_progress);
    for (const std::vector<std::string>& bad :
         {std::vector<std::string>{"--timeout", "0"}, {"--cache-size", "x"}}) {
        std::vector<std::string> arguments{"check", "m"};
        arguments.insert(arguments.end(), bad.begin(), bad.end());
        EXPECT_EQ(parse(arguments).exit_code, exit_command_line);
    }
}

TEST(CommandLine, ReadsEveryOption) {
    Options expected;
    expected.command = Command::generate;
    expected.spec = "dir/m.kf.json";
    expected.output_directory = "out";
    expected.depfile = "m.d";
    expected.stamp = "m.stamp";
    expected.cache = "cache";
    expected.backends = {Backend::vulkan, Backend::cuda};
    expected.name = "mine";
    expected.namespace_name = "app::kernels";
    expected.include_directories = {"a", "b", "c d"};
    expected.defines = {{"A", "1"}, {"B", "x=y"}, {"C", ""}};
    expected.embedding = Embedding::none;
    expected.python = expected.torch_tests = expected.dry_run = expected.werror = true;
    expected.jobs = 3;
    expected.verbosity = Verbosity::verbose;
    expected.error_format = ErrorFormat::json;
    // Lists end with each value: the spec after -I and -D is the spec.
    EXPECT_EQ(options({"generate",
                       "-o",
                       "out",
                       "--depfile",
                       "m.d",
                       "--stamp",
                       "m.stamp",
                       "--cache-dir",
                       "cache",
                       "--backend",
                       "vulkan",
                       "--backend",
                       "cuda",
                       "--backend",
                       "vulkan",
                       "--name",
                       "mine",
                       "--namespace",
                       "app::kernels",
                       "-Ia",
                       "--include-directory",
                       "b",
                       "-I",
                       "c d",
                       "-D",
                       "A",
                       "-DB=x=y",
                       "--define",
                       "C=",
                       "dir/m.kf.json",
                       "--no-embed",
                       "--python",
                       "--torch-tests",
                       "-n",
                       "--jobs",
                       "3",
                       "-v",
                       "--werror",
                       "--error-format",
                       "json"}),
              expected);
    EXPECT_EQ(options({"check", "-q", "m"}).verbosity, Verbosity::quiet);
    EXPECT_EQ(options({"-v", "check", "m"}).verbosity, Verbosity::verbose);
}

TEST(CommandLine, TorchTestsBringThePythonModule) {
    EXPECT_TRUE(options({"generate", "m", "-o", "out", "--torch-tests"}).python);
    EXPECT_FALSE(options({"generate", "m", "-o", "out", "--python"}).torch_tests);
}

TEST(CommandLine, APackageBringsThePythonModule) {
    const Options result = options({"generate", "m", "-o", "out", "--python-package", "my.kernels"});
    EXPECT_TRUE(result.python);
    EXPECT_EQ(result.python_package, "my.kernels");
    EXPECT_THAT(
        parse({"generate", "m", "-o", "out", "--python-package", "my.class"}).text,
        HasSubstr("--python-package: 'my.class' can't be a package: Python can't import 'class': a "
                  "package's name has letters, digits and _, doesn't begin with a digit and is no keyword"));
}

TEST(CommandLine, TakesTheCacheFromTheEnvironment) {
    ::setenv("KFGEN_CACHE_DIR", "from/environment", 1);
    EXPECT_EQ(parse_command_line({"check", "m"}, FakeFileSystem(), "").options.cache, "from/environment");
    EXPECT_EQ(parse_command_line({"check", "m", "--cache-dir", "x"}, FakeFileSystem(), "").options.cache,
              "x");
    ::unsetenv("KFGEN_CACHE_DIR");
}

TEST(CommandLine, PrintsVersionAndHelp) {
    const CommandLine version = parse({"--version"});
    EXPECT_TRUE(version.done);
    EXPECT_EQ(version.exit_code, exit_done);
    EXPECT_EQ(version.text, "kfgen 1.2.3\n");
    for (const auto& arguments :
         {std::vector<std::string>{"--help"}, {"-h"}, {"generate", "--help"}, {"check", "--help"}}) {
        const CommandLine help = parse(arguments);
        EXPECT_TRUE(help.done);
        EXPECT_EQ(help.exit_code, exit_done);
        EXPECT_THAT(help.text, HasSubstr("usage: kfgen"));
    }
}

TEST(CommandLine, RefusesOptionsThatACommandHasNoUseFor) {
    EXPECT_THAT(parse({"inspect", "m.kfa", "--python"}).text,
                HasSubstr("kfgen: error: --python: 'kfgen inspect' has no use for it [command-line]"));
    EXPECT_THAT(parse({"init", "m.slang", "--jobs", "2"}).text, HasSubstr("'kfgen init' has no use for it"));
    for (const std::vector<std::string>& given : {std::vector<std::string>{"--cache-dir", "somewhere"},
                                                  {"--cache-size=1G"},
                                                  {"--no-cache"},
                                                  {"-j", "2"},
                                                  {"--python"},
                                                  {"--no-embed"}}) {
        std::vector<std::string> arguments{"list", "m.kf.json"};
        arguments.insert(arguments.end(), given.begin(), given.end());
        EXPECT_THAT(parse(arguments).text, HasSubstr("'kfgen list' has no use for it")) << given[0];
    }
    EXPECT_FALSE(parse({"list", "m", "--backend", "cuda", "-D", "X", "--timeout", "9", "-q"}).done);
    EXPECT_THAT(parse({"check", "m", "--format", "json"}).text,
                HasSubstr("--format requires --gradients or --against"));
    ::setenv("KFGEN_CACHE_DIR", "somewhere", 1);
    EXPECT_FALSE(parse_command_line({"inspect", "m.kfa"}, FakeFileSystem(), "").done);
    EXPECT_FALSE(parse_command_line({"list", "m.kf.json"}, FakeFileSystem(), "").done);
    ::unsetenv("KFGEN_CACHE_DIR");
}

TEST(CommandLine, IsRefusedInJsonWhereThatIsAskedFor) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"lst", "m", "--error-format", "json"},
          {"lst", "m", "--error-format=json"}}) {
        const auto found = parse_json(parse(arguments).text);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->message, "unknown argument 'lst'");
    }
}

TEST(CommandLine, ReadsWhatIsComparedAndExtracted) {
    const Options spec = options({"check", "m.kf.json", "--against", "old.kfa", "--format", "json"});
    EXPECT_EQ(spec.spec, "m.kf.json");
    EXPECT_EQ(spec.against, "old.kfa");
    EXPECT_TRUE(spec.gradients.json);
    const Options artifact = options({"check", "m.kfa", "--against", "old.kf.json"});
    EXPECT_EQ(artifact.artifact, "m.kfa");
    EXPECT_EQ(artifact.spec, "");
    EXPECT_EQ(options({"inspect", "m.kfa", "--extract", "d"}).extract, "d");
    EXPECT_THAT(parse({"check", "m", "--against", "o", "--gradients"}).text, HasSubstr("--against"));
}

TEST(CommandLine, ReadsHowGradientsAreChecked) {
    EXPECT_EQ(options({"check", "m"}).gradients, GradientOptions{});
    const Options all = options({"check", "m", "--gradients", "--device", "cuda:0", "--seed", "7", "--range",
                                 "-2,0.5", "--shape", "f.w=16,21", "--shape", "x=3", "--except", "g",
                                 "--except", "S.h", "--format", "json"});
    EXPECT_EQ(all.spec, "m");
    EXPECT_EQ(all.artifact, "");
    EXPECT_TRUE(all.gradients.wanted);
    EXPECT_EQ(all.gradients.device, "cuda:0");
    EXPECT_EQ(all.gradients.seed, 7U);
    EXPECT_EQ(all.gradients.range, std::pair(-2.0, 0.5));
    EXPECT_THAT(all.gradients.shapes, ElementsAre(std::pair("f.w", std::vector<std::int64_t>{16, 21}),
                                                  std::pair("x", std::vector<std::int64_t>{3})));
    EXPECT_THAT(all.gradients.except, ElementsAre("g", "S.h"));
    EXPECT_TRUE(all.gradients.json);
    const Options artifact = options({"check", "out/m.kfa", "--gradients"});
    EXPECT_EQ(artifact.artifact, "out/m.kfa");
    EXPECT_EQ(artifact.spec, "");
}

TEST(CommandLine, RefusesWhatIsWrongWithCode2) {
    struct Case {
        std::vector<std::string> arguments;
        std::string part;
    };
    const Case cases[] = {
        {{}, "no command is given"},
        {{"genrate", "m", "-o", "out"}, "did you mean 'generate'?"},
        {{"generate", "m"}, "--output-dir"},
        {{"generate", "-o", "out"}, "takes a spec, NAME.kf.json"},
        {{"inspect"}, "FILE"},
        {{"inspekt", "m.kfa"}, "did you mean 'inspect'?"},
        {{"generate", "m", "-o", "out", "--depfil", "x"}, "did you mean '--depfile'?"},
        {{"generate", "m", "-o"}, "--output-dir"},
        {{"check", "m", "-o", "out"}, "unknown argument '-o'"},
        {{"check", "m", "second"}, "unknown argument 'second'"},
        {{"check", "m", "--backend", "metal"}, "metal"},
        {{"check", "m", "--error-format", "xml"}, "xml"},
        {{"check", "m", "--jobs", "0"}, "--jobs"},
        {{"check", "m", "--jobs", "many"}, "many"},
        {{"check", "m", "-D", "1x"}, "'1x' is not NAME"},
        {{"check", "m", "--against"}, "kfgen: error: --against takes FILE, and none is given [command-line]"},
        {{"generate", "m", "-o"}, "--output-dir takes DIR, and none is given"},
        {{"check", "m", "--namespace", "a::class"}, "'a::class' can't be a C++ namespace"},
        {{"check", "m", "--name", "a::b"}, "--name: 'a::b' can't be the name of files and a C++ namespace"},
        {{"check", "m", "--name", "lambda"}, "'lambda' can't be the name"},
        {{"check", "m", "--name", "../m"}, "'../m' can't be the name"},
        {{"check", "m", "--namespace", "a:b"}, "'a:b' can't be"},
        {{"check", "m", "-v", "-q"}, "-"},
        {{"check", "@missing"}, "missing"},
        {{"check", "m", "--seed", "3"}, "--seed requires --gradients"},
        {{"check", "m", "--gradients", "--seed", "-3"}, "--seed: '-3' is not a whole number"},
        {{"check", "m", "--gradients", "--seed", "x"},
         "--seed: 'x' is not a whole number from 0 to 2^64 - 1 ["},
        {{"check", "m", "--gradients", "--range", "3"}, "'3' is not LOW,HIGH"},
        {{"check", "m", "--gradients", "--range", "3,1"}, "'3,1' is not LOW,HIGH"},
        {{"check", "m", "--gradients", "--range", "1,nan"}, "'1,nan' is not LOW,HIGH"},
        {{"check", "m", "--gradients", "--range", "1,2x"}, "'1,2x' is not LOW,HIGH"},
        {{"check", "m", "--gradients", "--range", ","}, "',' is not LOW,HIGH"},
        {{"check", "m", "--gradients", "--shape", "x"}, "'x' is not ARGUMENT=N"},
        {{"check", "m", "--gradients", "--shape", "=3"}, "'=3' is not ARGUMENT=N"},
        {{"check", "m", "--gradients", "--shape", "x=3,"}, "'x=3,' is not ARGUMENT=N"},
        {{"check", "m", "--gradients", "--shape", "x=0"}, "'x=0' is not ARGUMENT=N"},
        {{"check", "m", "--gradients", "--format", "xml"}, "xml"},
        {{"generate", "m", "-o", "out", "--gradients"}, "--gradients"},
    };
    for (const Case& c : cases) {
        const CommandLine line = parse(c.arguments);
        EXPECT_TRUE(line.done) << c.part;
        EXPECT_EQ(line.exit_code, exit_command_line) << c.part;
        EXPECT_THAT(line.text, HasSubstr(c.part));
        EXPECT_THAT(line.text, HasSubstr("error: "));
        EXPECT_EQ(line.text.back(), '\n');
    }
}

TEST(CommandLine, ReadsResponseFiles) {
    FakeFileSystem disk;
    disk.files["args"] = "m.kf.json\n-o 'an output'";
    const CommandLine line = parse_command_line({"generate", "@args", "-n"}, disk, "");
    ASSERT_FALSE(line.done) << line.text;
    EXPECT_EQ(line.options.spec, "m.kf.json");
    EXPECT_EQ(line.options.output_directory, "an output");
    EXPECT_TRUE(line.options.dry_run);
}

TEST(OutputOptions, TellApartWhatShapesTheOutputs) {
    const auto of = [](std::vector<std::string> more) {
        more.insert(more.begin(), {"generate", "m", "-o", "out"});
        return output_options(options(more));
    };
    const auto plain = of({});
    for (const auto& more : std::vector<std::vector<std::string>>{{"--python"},
                                                                  {"--torch-tests"},
                                                                  {"--no-embed"},
                                                                  {"--embed", "text"},
                                                                  {"--embed", "elf-x86_64"},
                                                                  {"--embed", "coff-x86_64"},
                                                                  {"--backend", "cuda"},
                                                                  {"--name", "x"},
                                                                  {"--namespace", "x"},
                                                                  {"-I", "x"},
                                                                  {"-D", "x"},
                                                                  {"--depfile", "x"},
                                                                  {"--stamp", "x"}}) {
        EXPECT_NE(of(more), plain) << more.front();
    }
    EXPECT_NE(of({"-D", "x"}), of({"-I", "x"}));
    EXPECT_NE(of({"-D", "x"}), of({"-D", "x=2"}));
    for (const auto& more : std::vector<std::vector<std::string>>{
             {"-v"}, {"--jobs", "2"}, {"--cache-dir", "x"}, {"--error-format", "json"}}) {
        EXPECT_EQ(of(more), plain) << more.front();
    }
}

}  // namespace
}  // namespace kf::gen
