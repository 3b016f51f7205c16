// Every row of type_resolution.txt, planned with the real Slang's reflection of type_resolution.slang.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "plan/resolve.h"
#include "plan/types.h"
#include "slang/compiler.h"
#include "spec/parse.h"

namespace kf::gen {
namespace {

const std::string folder = KF_SOURCE_DIR "/tests/tool/plan/";

struct Row {
    std::string name;
    std::string function;
    std::string kinds;
    std::string expected;
    int line = 0;
};

void PrintTo(const Row& row, std::ostream* out) { *out << "type_resolution.txt:" << row.line; }

std::string trimmed(const std::string& text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// Splits where `separator` is not inside of <> or [].
std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '<' || c == '[' ? 1 : c == '>' || c == ']' ? -1 : 0;
        if (c == separator && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    for (std::string& part : parts) part = trimmed(part);
    return parts;
}

std::vector<Row> read_rows() {
    std::ifstream file(folder + "type_resolution.txt");
    std::vector<Row> rows;
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
        if (text.empty() || text.front() == '#') continue;
        // "->" has no bracket that is open.
        const std::size_t last = text.rfind('|');
        std::vector<std::string> cells = split(text.substr(0, last), '|');
        cells.resize(3);
        rows.push_back({cells[0], cells[1], cells[2], trimmed(text.substr(last + 1)), line});
    }
    return rows;
}

/// "x: tensor[1] as float" as a JSON member.
std::string member(const std::string& text) {
    const std::size_t colon = text.find(':');
    std::string kind = trimmed(text.substr(colon + 1));
    std::string options;
    if (const std::size_t as = kind.find(" as "); as != std::string::npos) {
        options = R"(, "as": ")" + kind.substr(as + 4) + "\"";
        kind.resize(as);
    }
    return "\"" + text.substr(0, colon) + R"(": {"kind": ")" + kind + "\"" + options + "}";
}

Spec spec_of(const Row& row) {
    std::string arguments;
    std::string beside;
    for (const std::string& kind : split(row.kinds, ',')) {
        if (kind.empty()) continue;
        const bool argument = !kind.starts_with("result:") && !kind.starts_with("this:");
        std::string& list = argument ? arguments : beside;
        list += (!argument || !list.empty() ? ", " : "") + member(kind);
    }
    const std::string text =
        R"({"version": 1, "name": "rows", "modules": ["type_resolution.slang"], "calls": [)"
        R"({"function": ")" +
        row.function + R"(", "name": "row", "args": {)" + arguments + "}" + beside + "}]}";
    Outcome<Spec> spec = parse_spec(text, "rows.kf.json");
    if (!spec) throw std::runtime_error(format_text(spec.errors().front()));
    return std::move(spec.value());
}

std::string kind_text(const manifest::Argument& argument, const std::string& element) {
    if (passes_value(argument)) return "value<" + element + ">";
    return "tensor<" + element + ">[" + std::to_string(argument.rank) + "]";
}

std::string outcome_of(const Outcome<Plan>& plan) {
    if (!plan) {
        std::string ids = "error";
        for (const Diagnostic& error : plan.errors()) ids += " " + error.id;
        return ids;
    }
    const PlannedCall& call = plan.value().functions.at(0).calls.at(0);
    std::string text;
    std::string result;
    for (const PlannedArgument& argument : call.arguments) {
        if (argument.is_result) {
            result = " -> " + kind_text(argument.host, argument.element_name);
            continue;
        }
        text += (text.empty() ? "" : ", ") + kind_name(argument.type) + "/" +
                std::to_string(argument.host.call_rank);
    }
    return call.function + "(" + text + ")" + result;
}

class TypeResolutionTest : public testing::TestWithParam<Row> {
protected:
    static void SetUpTestSuite() {
        auto compiler = make_slang_compiler({}, {});
        compiler_ = std::move(compiler.value());
        Outcome<Module> module = compiler_->reflect({folder + "type_resolution.slang"});
        if (!module) throw std::runtime_error(format_text(module.errors().front()));
        module_ = std::move(module.value());
    }
    static void TearDownTestSuite() { compiler_.reset(); }

    static std::unique_ptr<Compiler> compiler_;
    static Module module_;
};

std::unique_ptr<Compiler> TypeResolutionTest::compiler_;
Module TypeResolutionTest::module_;

TEST_P(TypeResolutionTest, Row) {
    const Outcome<Plan> plan = resolve(spec_of(GetParam()), module_, compiler_.get());
    EXPECT_EQ(outcome_of(plan), GetParam().expected)
        << (plan ? std::string() : format_text(plan.errors().front()));
    if (plan) return;
    for (const Diagnostic& error : plan.errors()) {
        // Where the spec can tell, every error has a place in it.
        const bool in_slang = error.id == "type-not-supported";
        EXPECT_TRUE(in_slang || error.location.file == "rows.kf.json") << format_text(error);
        EXPECT_GT(error.location.line, 0) << format_text(error);
        EXPECT_GT(error.location.column, 0) << format_text(error);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, TypeResolutionTest, testing::ValuesIn(read_rows()),
                         [](const testing::TestParamInfo<Row>& row) { return row.param.name; });

TEST(TypeResolutionTableTest, IsLarge) { EXPECT_GE(read_rows().size(), 450U); }

}  // namespace
}  // namespace kf::gen
