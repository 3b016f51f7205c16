// libclang's view of the types in structs.h.
#include "libclang/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string folder = KF_SOURCE_DIR "/tests/tool/libclang";

Outcome<CppReading> read(const std::vector<std::string>& types, std::vector<std::string> options = {}) {
    const auto reader = open_libclang();
    if (!reader) return reader.errors();
    std::vector<CppRequest> requests;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const auto line = static_cast<std::int64_t>(i) + 1;
        requests.push_back({"structs.h", types[i], {"a.kf.json", line, 5}, {"a.kf.json", line, 9}});
    }
    options.push_back("-I" + folder);
    return reader.value()->read(requests, options);
}

CppType one(const std::string& type, std::vector<std::string> options = {}) {
    Outcome<CppReading> reading = read({type}, std::move(options));
    if (reading) return reading.value().types.at(0);
    ADD_FAILURE() << format_text(reading.errors().front());
    return {};
}

std::vector<std::pair<std::string, std::int64_t>> places(const CppType& type) {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for (const CppField& field : type.fields) all.emplace_back(field.name, field.offset);
    return all;
}

TEST(Reader, PutsTheFieldsOfBasesFirst) {
    const CppType type = one("app::Everything");
    EXPECT_EQ(type.name, "app::Everything");
    EXPECT_EQ(type.alignment, 16);
    EXPECT_EQ(type.size, 160);
    EXPECT_THAT(places(type),
                ElementsAre(Pair("id", 0), Pair("position", 4), Pair("direction", 16), Pair("aligned", 32),
                            Pair("weights", 48), Pair("rows", 64), Pair("flags", 112), Pair("half", 114),
                            Pair("shape", 116), Pair("matrix", 120), Pair("unnamed", 144), Pair("", 148),
                            Pair("hidden", 152)));
    EXPECT_FALSE(type.fields.back().is_public);
    EXPECT_EQ(type.fields[1].location.file, folder + "/structs.h");
    EXPECT_EQ(type.fields[1].location.line, 89);
    EXPECT_EQ(type.fields[1].location.column, 19);
    EXPECT_TRUE(type.is_copied_by_bytes);
    EXPECT_TRUE(type.is_made_by_default);
    EXPECT_FALSE(type.is_polymorphic);
    EXPECT_FALSE(type.fields[10].type.is_named);
}

TEST(Reader, KnowsWhatFieldsAreMadeOf) {
    const CppType type = one("app::Everything");
    std::map<std::string, CppType> fields;
    for (const CppField& field : type.fields) fields.emplace(field.name, field.type);
    const CppType& vec = fields.at("position");
    ASSERT_EQ(vec.fields.size(), 3U);
    EXPECT_EQ(vec.fields[1].name, "");
    EXPECT_EQ(vec.fields[1].offset, 4);
    EXPECT_TRUE(vec.fields[1].type.is_union);
    EXPECT_THAT(places(vec.fields[1].type), ElementsAre(Pair("y", 0), Pair("g", 0)));
    const CppType& weights = fields.at("weights");
    ASSERT_EQ(weights.fields.size(), 1U);
    EXPECT_EQ(weights.fields[0].type.kind, CppKind::array);
    EXPECT_EQ(weights.fields[0].type.extent, 4);
    EXPECT_EQ(fields.at("rows").element.at(0).element.at(0).scalar, ScalarType::float64);
    EXPECT_EQ(fields.at("flags").fields.at(1).type.scalar, ScalarType::boolean);
    EXPECT_EQ(fields.at("half").fields.at(0).type.scalar, ScalarType::uint16);
    EXPECT_EQ(fields.at("shape").scalar, ScalarType::uint8);
    EXPECT_THAT(fields.at("shape").members, ElementsAre(Pair("sphere", 0), Pair("plane", 4)));
    EXPECT_TRUE(fields.at("matrix").is_by_columns);
    EXPECT_FALSE(vec.is_by_columns);
}

TEST(Reader, ReadsTemplatesAndAliases) {
    const CppType type = one("app::Alias");
    EXPECT_EQ(type.name, "app::Pair<float>");
    EXPECT_THAT(places(type), ElementsAre(Pair("first", 0), Pair("second", 4)));
    EXPECT_EQ(one("app::Pair<double>").size, 16);
}

TEST(Reader, SeesBasesThatDependOnArguments) {
    const CppType derived = one("app::Derived<app::Base>");
    EXPECT_FALSE(derived.has_unseen_base);
    EXPECT_THAT(places(derived), ElementsAre(Pair("id", 0), Pair("own", 4)));
    EXPECT_THAT(places(one("app::Some<short*, 2>")),
                ElementsAre(Pair("first", 0), Pair("second", 2), Pair("third", 4)));
    EXPECT_THAT(places(one("app::Two<app::Right, app::Aligned>")),
                ElementsAre(Pair("c", 0), Pair("x", 16), Pair("y", 20), Pair("z", 24), Pair("last", 32)));
    const CppType matrix = one("app::eigenlike::Matrix<float, 3, 2>");
    EXPECT_FALSE(matrix.has_unseen_base);
    EXPECT_THAT(places(matrix), ElementsAre(Pair("numbers", 0)));
    EXPECT_FALSE(matrix.fields.at(0).is_public);
    EXPECT_EQ(matrix.fields.at(0).type.extent, 6);
    EXPECT_TRUE(matrix.is_by_columns);
    EXPECT_EQ(std::pair(matrix.rows, matrix.columns), (std::pair<std::int64_t, std::int64_t>{3, 2}));
    EXPECT_TRUE(matrix.has_own_copy);
    EXPECT_FALSE(matrix.is_copied_by_bytes);
    EXPECT_TRUE(matrix.is_copyable);
    EXPECT_TRUE(matrix.is_destroyed_by_bytes);
    EXPECT_TRUE(one("app::Holder::Inner<app::Base>").has_unseen_base);
    EXPECT_TRUE(one("app::All<app::Base, app::Right>").has_unseen_base);
}

TEST(Reader, FindsBasesInTheirPadding) {
    const CppType marked = one("app::Marked");
    EXPECT_EQ(marked.size, 16);
    EXPECT_THAT(places(marked), ElementsAre(Pair("value", 0), Pair("small", 8), Pair("mark", 9)));
    EXPECT_TRUE(marked.fields[1].is_public);
    EXPECT_FALSE(marked.fields[2].is_public);
}

TEST(Reader, TellsWhatNoKernelReads) {
    const CppType type = one("app::Pointing");
    EXPECT_EQ(type.fields.at(0).type.kind, CppKind::unsupported);
    EXPECT_EQ(type.fields.at(0).type.name, "const char *");
    EXPECT_EQ(type.fields.at(1).type.name, "int &");
    EXPECT_TRUE(type.fields.at(2).is_bit_field);
    EXPECT_FALSE(type.is_copied_by_bytes);
    EXPECT_TRUE(one("app::Virtual").is_polymorphic);
    EXPECT_FALSE(one("app::Unmade").is_made_by_default);
    const CppType both = one("app::Both");
    EXPECT_THAT(places(both), ElementsAre(Pair("a", 0), Pair("b", 8), Pair("c", 16), Pair("d", 20)));
    EXPECT_FALSE(both.fields[2].is_public);
}

TEST(Reader, LaysOutForTheTarget) {
    EXPECT_EQ(one("app::Both", {"--target=i686-linux-gnu", "-nostdinc++", "-DKF_BARE"}).alignment, 4);
}

TEST(Reader, PlacesErrorsInHeadersAndSpecs) {
    const Outcome<CppReading> unknown = read({"app::Everything", "app::Rays"});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(format_text(unknown.errors().front()),
              "a.kf.json:2:9: error: no type named 'Rays' in namespace 'app' [cpp-header]");
    const Outcome<CppReading> missing =
        open_libclang().value()->read({{"none.h", "A", {"a.kf.json", 3, 4}, {}}}, {});
    ASSERT_FALSE(missing);
    EXPECT_EQ(format_text(missing.errors().front()),
              "a.kf.json:3:4: error: 'none.h' file not found [cpp-header]\n"
              "    note: give its folder by --cxx-option=-I…, or in CMake by target_include_directories() of "
              "the target");
    const Outcome<CppReading> broken = read({"app::Base"}, {"-DKF_BROKEN"});
    ASSERT_FALSE(broken);
    EXPECT_THAT(format_text(broken.errors().front()), HasSubstr("structs.h:"));
}

TEST(Reader, SaysWhatToInstall) {
    setenv("KFGEN_LIBCLANG", "/none/libclang.so", 1);
    const auto reader = open_libclang();
    unsetenv("KFGEN_LIBCLANG");
    ASSERT_FALSE(reader);
    EXPECT_EQ(
        format_text(reader.errors().front()),
        "kfgen: error: \"structs\" need libclang (libclang.so of LLVM 14 or newer), which was not found "
        "[libclang-missing]\n    note: install libclang-dev, or, where pip installed kfgen, "
        "`pip install kfgen[structs]`, or set KFGEN_LIBCLANG to the library's path");
}

TEST(Reader, ListsTheUsersFiles) {
    const Outcome<CppReading> reading = read({"app::Base"});
    ASSERT_TRUE(reading);
    ASSERT_GE(reading.value().files.size(), 1U);
    EXPECT_EQ(reading.value().files[0], folder + "/structs.h");
    EXPECT_LE(reading.value().files.size(), 2U);  // libclang itself, where the system says which file it is
}

}  // namespace
}  // namespace kf::gen
