// The kinds' little language: what it accepts, and where it points when it doesn't.
#include "spec/kind.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

KindSpec kind_of(std::string_view text) {
    const Outcome<KindSpec> outcome = parse_kind(text, {"s.json", 2, 10});
    if (!outcome) {
        ADD_FAILURE() << format_text(outcome.errors().front());
        return {};
    }
    return outcome.value();
}

TEST(ParseKind, ReadsElementAndRank) {
    const KindSpec kind = kind_of("tensor<float3>[2]");
    EXPECT_EQ(kind.kind, Kind::tensor);
    EXPECT_EQ(kind.element, "float3");
    EXPECT_EQ(kind.rank, 2);
    EXPECT_EQ(kind.spelling, "tensor<float3>[2]");
    EXPECT_EQ(kind.location, (Location{"s.json", 2, 10}));

    EXPECT_EQ(kind_of("tensor[0]").rank, 0);
    EXPECT_EQ(kind_of("tensor[8]").element, "");
    EXPECT_EQ(kind_of("value").kind, Kind::value);
    EXPECT_EQ(kind_of("value<half4>").element, "half4");
    EXPECT_EQ(kind_of("grid[3]").rank, 3);
}

TEST(ParseKind, NormalisesSpaces) {
    EXPECT_EQ(kind_of("  tensor < float3 > [ 2 ] "), [] {
        KindSpec kind = kind_of("tensor<float3>[2]");
        return kind;
    }());
    EXPECT_EQ(kind_of("tensor<vector<float,3>>[1]").spelling, "tensor<vector<float, 3>>[1]");
    EXPECT_EQ(kind_of("tensor< vector< float , 3 > >[1]").spelling, "tensor<vector<float, 3>>[1]");
}

TEST(ParseKind, ReadsEveryTexture) {
    const KindSpec kind = kind_of("rwtexturecube_array");
    EXPECT_EQ(kind.kind, Kind::texture);
    EXPECT_EQ(kind.texture, (TextureShape{TextureDimension::cube, true, true}));
    EXPECT_EQ(kind_of("texture1d").texture, (TextureShape{TextureDimension::one, false, false}));
}

TEST(ParseKind, ReadsEverySpelling) {
    for (std::string spelling : kind_spellings()) {
        for (const auto& [from, to] :
             {std::pair<std::string, std::string>{"<type>", "<int>"}, {"[rank]", "[1]"}, {"[n]", "[2]"}}) {
            if (const std::size_t at = spelling.find(from); at != std::string::npos) {
                spelling.replace(at, from.size(), to);
            }
        }
        EXPECT_EQ(kind_of(spelling).spelling, spelling);
    }
}

TEST(ParseKind, PointsAtTheMistake) {
    struct Case {
        std::string_view text;
        std::int64_t offset;
        std::string_view part;
    };
    const Case cases[] = {
        {"", 0, "expected a kind"},
        {"tensr[1]", 0, "did you mean 'tensor'?"},
        {"Tensor[1]", 0, "did you mean 'tensor'?"},
        {"nonsense_word", 0, "kinds: value"},
        {"tensor", 6, "needs its rank"},
        {"tensor<float>", 13, "for example tensor<float>[1]"},
        {"tensor<float", 6, "never closed"},
        {"tensor<>[1]", 7, "is missing"},
        {"tensor<fl*at>[1]", 9, "'*'"},
        {"tensor[]", 7, "expected the rank"},
        {"tensor[x]", 7, "expected the rank"},
        {"tensor[-1]", 7, "expected the rank"},
        {"tensor[9]", 7, "from 0 to 8"},
        {"tensor[99999999999999999999]", 7, "from 0 to 8"},
        {"tensor[1", 8, "expected ']'"},
        {"tensor[1][2]", 9, "unexpected '[2]'"},
        {"tensor[1]<float>", 9, "unexpected '<float>'"},
        {"grid", 4, "needs its rank"},
        {"grid[0]", 5, "from 1 to 8"},
        {"value[1]", 5, "takes no rank"},
        {"buffer<float>", 6, "takes no element"},
        {"texture3d_array", 0, "unknown kind"},
        {"value, value", 5, "unexpected ', value'"},
    };
    for (const Case& c : cases) {
        const Outcome<KindSpec> outcome = parse_kind(c.text, {"s.json", 2, 10});
        ASSERT_FALSE(outcome) << c.text;
        const Diagnostic& error = outcome.errors().front();
        EXPECT_EQ(error.id, "spec-kind") << c.text;
        EXPECT_EQ(error.location, (Location{"s.json", 2, 10 + c.offset})) << c.text;
        EXPECT_NE(format_text(error).find(c.part), std::string::npos)
            << c.text << " -> " << format_text(error);
    }
}

}  // namespace
}  // namespace kf::gen
