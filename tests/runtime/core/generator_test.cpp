// The binder's part of generators: shapes, strides, what their parameters can't hold, and their records.

#include <cmath>
#include <cstring>
#include <limits>

#include "core/artifact.h"
#include "core/kinds/binding.h"
#include "runtime/core/bind_fixture.h"

namespace {

using namespace kf;
using namespace kf::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using G = Given;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

Argument generator(std::string name, GeneratorKind kind, std::int64_t rank,
                   ScalarType scalar = ScalarType::int64) {
    std::vector<std::int64_t> extents;
    if (rank > 1) extents = {rank};
    Argument argument = value(std::move(name), scalar, extents);
    argument.kind = kinds::Generator{kind};
    argument.rank = rank;
    argument.call_rank = kind == GeneratorKind::grid || kind == GeneratorKind::range ? rank : 0;
    return argument;
}

/// Refers to `source`.
template <class T>
Given given_generators(const Argument& argument, const T& source) {
    Given made;
    made.kind = detail::Arg::Kind::generator;
    detail::read_given(argument, detail::Arg::make(made.kind, &source, nullptr, nullptr, nullptr), made);
    return made;
}

/// f(i) -> result.
Manifest function(const Argument& argument, std::int64_t rank) {
    ManifestBuilder builder;
    builder.add("f", {argument, as(Role::result, tensor("result", rank, ScalarType::int64))}, false);
    return builder.get();
}

const Argument row = generator("i", GeneratorKind::range, 1);
const Argument plane = generator("i", GeneratorKind::grid, 2);

TEST(Generator, GivesTheCallItsShape) {
    struct Case {
        Range range;
        std::int64_t count;
    };
    for (const Case& c : {Case{{0, 5, 1}, 5}, Case{{0, 0, 1}, 0}, Case{{5, 0, 1}, 0}, Case{{5, 0, -2}, 3},
                          Case{{-most - 1, most, most}, 3}, Case{{most, -most - 1, -most - 1}, 2},
                          Case{{0, 6'000'000'000, 2}, 3'000'000'000}}) {
        const detail::Binding binding =
            forward(function(row, 1), {given_generators(row, c.range), G::none()});
        EXPECT_EQ(binding.shape, Dims{c.count});
        EXPECT_EQ(binding.total, c.count);
    }
    const Grid<2> grid{{70'000, 50'000}, {3, 4}, {5, 6}};
    const detail::Binding binding = forward(function(plane, 2), {given_generators(plane, grid), G::none()});
    EXPECT_EQ(binding.total, 3'500'000'000);
    EXPECT_EQ(binding.arguments[0].data.strides, (Dims{5, 6}));
    EXPECT_FALSE(binding.arguments[0].data.present);
}

TEST(Generator, BroadcastsAndMaps) {
    Argument turned = plane;
    turned.map = {2, 0};
    turned.call_rank = 2;
    ManifestBuilder builder;
    builder.add("f", {turned, as(Role::result, tensor("result", 3))}, false, 3);
    const Grid<2> grid{{1, 7}, {0, 0}, {11, 13}};
    const Dims shape{7, 3, 5};
    const detail::Binding binding =
        test::bind(builder.get(), PassKind::forward, {given_generators(turned, grid), G::none()}, &shape);
    EXPECT_EQ(binding.shape, shape);
    EXPECT_EQ(binding.arguments[0].data.strides, (Dims{13, 0, 0})) << "an extent of 1 stays where it is";
}

TEST(Generator, RefusesWhatItCantHold) {
    const auto refuses = [](const Argument& argument, const auto& source, const char* text) {
        expect_error(ErrorCode::value_range, AllOf(StartsWith("f: argument 'i': "), HasSubstr(text)), [&] {
            forward(function(argument, argument.call_rank), {given_generators(argument, source), G::none()});
        });
    };
    refuses(row, Range{0, 3, 0}, "step can't be 0");
    refuses(plane, Grid<2>{{3, -1}, {}, {}}, "extent -1 of shape [3, -1] is negative");
    refuses(plane, Grid<2>{{3, 3}, {0, 0}, {1, most}}, "pass what 64 bits hold");
    refuses(generator("i", GeneratorKind::range, 1, ScalarType::int32), Range{0, 1LL << 32, 1 << 30},
            "0 to 3221225472, don't fit the parameter's type, int");
    refuses(generator("i", GeneratorKind::range, 1, ScalarType::uint32), Range{3, -2, -1},
            "3 to -1, don't fit");
    refuses(generator("i", GeneratorKind::range, 1, ScalarType::uint64), Range{-1, 3, 1},
            "-1 to 2, don't fit");
    const Argument hash = generator("i", GeneratorKind::wang_hash, 0, ScalarType::uint32);
    refuses(hash, WangHash{0, 1025, false}, "warmup 1025 is above 1024");
    const Argument random = generator("i", GeneratorKind::rand_float, 0, ScalarType::float32);
    const float infinity = std::numeric_limits<float>::infinity();
    for (const auto& [min, max] : {std::pair{1.F, 1.F},
                                   {2.F, 1.F},
                                   {0.F, infinity},
                                   {-3e38F, 3e38F},
                                   {std::nanf(""), 1.F},
                                   {0.F, std::nanf("")}}) {
        refuses(random, RandFloat{min, max, 0, 0, false}, "both must be finite");
    }
}

TEST(Generator, RefusesCallsThatIndicesCantCount) {
    const auto bind_id = [](GeneratorKind kind, ScalarType scalar, const Dims& shape) {
        const Argument argument = generator("i", kind, static_cast<std::int64_t>(shape.size()), scalar);
        return test::bind(function(argument, argument.rank), PassKind::forward, {G::none(), G::none()},
                          &shape);
    };
    const std::int64_t half = std::int64_t{1} << 31;
    EXPECT_EQ(bind_id(GeneratorKind::call_id, ScalarType::int32, {half}).total, half);
    EXPECT_EQ(bind_id(GeneratorKind::call_id, ScalarType::int32, {3, half}).total, 3 * half);
    EXPECT_EQ(bind_id(GeneratorKind::call_id, ScalarType::int64, {half * 8}).total, half * 8);
    EXPECT_EQ(bind_id(GeneratorKind::thread_id, ScalarType::uint32, {2, half}).total, 2 * half);
    for (const auto& [kind, scalar, shape] :
         {std::tuple{GeneratorKind::call_id, ScalarType::int32, Dims{half + 1}},
          std::tuple{GeneratorKind::call_id, ScalarType::uint32, Dims{1, 2 * half + 1}},
          std::tuple{GeneratorKind::thread_id, ScalarType::int32, Dims{2, half}}}) {
        expect_error(ErrorCode::value_range, HasSubstr("its indices, 0 to"),
                     [&, k = kind, s = scalar, extents = shape] { bind_id(k, s, extents); });
    }
    expect_error(ErrorCode::missing_argument, HasSubstr("no argument gives dimension 0"), [&] {
        forward(function(generator("i", GeneratorKind::call_id, 1), 1), {G::none(), G::none()});
    });
}

TEST(Generator, RefusesOtherKinds) {
    const Manifest manifest = function(row, 1);
    for (const Given& other : {G::value(), G::tensor(at(0x1000, {3}))}) {
        expect_error(ErrorCode::type_mismatch, HasSubstr("expected range, found"), [&] {
            forward(manifest, {other, G::none()});
        });
    }
    expect_error(ErrorCode::missing_argument, HasSubstr("expected range, found nothing"), [&] {
        forward(manifest, {G::none(), G::none()});
    });
}

/// What the host writes as the generator's record.
template <class T, std::size_t count>
std::array<T, count> record(const Argument& argument, const manifest::Record& record, const void* source) {
    std::array<T, count> written{};
    EXPECT_EQ(manifest::record_layout(record).end, static_cast<std::int64_t>(sizeof written));
    detail::pack_record(argument, record, source, reinterpret_cast<std::byte*>(written.data()));
    return written;
}

TEST(Generator, PacksItsRecord) {
    using manifest::RecordKind;
    const Grid<2> grid{{3, 4}, {50, 60}, {7, 8}};
    EXPECT_EQ((record<std::int64_t, 4>(plane, {RecordKind::grid, 0, {0, 1}}, &grid)),
              (std::array<std::int64_t, 4>{50, 60, 7, 8}));
    const Grid<2> row_of_one{{1, 4}, {50, 60}, {7, 8}};
    EXPECT_EQ((record<std::int64_t, 4>(plane, {RecordKind::grid, 0, {0, 1}}, &row_of_one)),
              (std::array<std::int64_t, 4>{50, 60, 0, 8}))
        << "broadcast along the dimension";
    const Range range{-9, 9, 2};
    EXPECT_EQ((record<std::int64_t, 2>(row, {RecordKind::grid, 0, {0}}, &range)),
              (std::array<std::int64_t, 2>{-9, 2}));
    const Argument hash = generator("i", GeneratorKind::wang_hash, 0, ScalarType::uint32);
    WangHash seeded{1, 5, false};
    EXPECT_EQ((record<std::uint32_t, 2>(hash, {RecordKind::hash, 0}, &seeded)), (std::array{1U, 5U}));
    seeded.hash_seed = true;
    EXPECT_EQ((record<std::uint32_t, 2>(hash, {RecordKind::hash, 0}, &seeded)), (std::array{663891101U, 5U}));
    const Argument random = generator("i", GeneratorKind::rand_float, 0, ScalarType::float32);
    const RandFloat numbers{-1, 2, 0, 9, true};
    const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    EXPECT_EQ((record<std::uint32_t, 5>(random, {RecordKind::random, 0}, &numbers)),
              (std::array{3232319850U, 9U, bits(-1), bits(3), bits(std::nextafter(2.F, 0.F))}));
}

TEST(Generator, SurvivesTheArtifact) {
    for (const Argument& argument :
         {row, plane, generator("i", GeneratorKind::thread_id, 2, ScalarType::uint32)}) {
        const Manifest manifest = function(argument, 2);
        EXPECT_EQ(artifact::read(artifact::write(manifest)).functions, manifest.functions);
    }
    for (const auto& spoil :
         {+[](Argument& a) { a.kind = kinds::Generator{}; }, +[](Argument& a) { a.role = Role::inout; },
          +[](Argument& a) { a.element.scalar = ScalarType::float32; }, +[](Argument& a) { a.rank = 3; },
          +[](Argument& a) { a.kind = kinds::Tensor{}; }}) {
        Manifest manifest = function(plane, 2);
        spoil(manifest.functions.front().calls.front().arguments.front());
        EXPECT_THROW((void)artifact::write(manifest), ArtifactError);
    }
}

}  // namespace
