// What the binder asks of generators. On the host a Grid of N dimensions is 3 N integers, a Range three.
#include "core/kinds/generator_binding.h"

#include <kf/generator.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/bind_error.h"
#include "core/describe.h"
#include "core/generator_rules.h"
#include "core/unaligned.h"
#include "core/views.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::HashRecord;
using manifest::RandomRecord;
using manifest::Record;
using manifest::RecordKind;

static_assert(sizeof(Grid<1>) == 3 * sizeof(std::int64_t) && sizeof(Grid<8>) == 24 * sizeof(std::int64_t));

constexpr std::uint32_t max_warmup = 1024;

/// More than any shape can have: refused as a total that is too large.
constexpr std::int64_t too_many = std::numeric_limits<std::int64_t>::max();

/// Holds a product of two int64, so that a range may span all of them.
__extension__ using Wide = __int128;

struct Axis {
    std::int64_t extent = 1;
    std::int64_t offset = 0;
    std::int64_t stride = 1;
};

std::int64_t number_of(const Range& range) {
    const bool up = range.step > 0;
    if (range.step == 0 || (up ? range.start >= range.stop : range.start <= range.stop)) {
        return 0;
    }
    // The difference of two int64 fits a uint64, and so does a step's magnitude.
    const std::uint64_t distance =
        up ? static_cast<std::uint64_t>(range.stop) - static_cast<std::uint64_t>(range.start)
           : static_cast<std::uint64_t>(range.start) - static_cast<std::uint64_t>(range.stop);
    const std::uint64_t step = up ? static_cast<std::uint64_t>(range.step)
                                  : std::uint64_t{0} - static_cast<std::uint64_t>(range.step);
    const std::uint64_t count = (distance - 1) / step + 1;
    return count > static_cast<std::uint64_t>(too_many) ? too_many : static_cast<std::int64_t>(count);
}

template <class T>
T read(const void* value) {
    T result;
    std::memcpy(&result, value, sizeof result);
    return result;
}

Axis axis_of(const kinds::Generator& kind, const Argument& argument, const void* value,
             std::size_t dimension) {
    if (kind.generator == GeneratorKind::range) {
        const auto range = read<Range>(value);
        return {number_of(range), range.start, range.step};
    }
    const auto* numbers = static_cast<const std::int64_t*>(value);
    const auto rank = static_cast<std::size_t>(argument.rank);
    return {numbers[dimension], numbers[rank + dimension], numbers[2 * rank + dimension]};
}

/// What both kinds of random numbers have.
WangHash hash_of(const kinds::Generator& kind, const void* value) {
    if (kind.generator == GeneratorKind::wang_hash) {
        return read<WangHash>(value);
    }
    const auto random = read<RandFloat>(value);
    return {random.seed, random.warmup, random.hash_seed};
}

/// Thomas Wang's 32-bit hash: the kernels have the same one.
std::uint32_t wang_hash(std::uint32_t x) {
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ (x >> 15);
}

float last_of(const RandFloat& random) { return std::nextafter(random.max, random.min); }

/// Whether an index type holds it.
bool holds(ScalarType scalar, std::int64_t value) {
    switch (scalar) {
        case ScalarType::int32: return value == static_cast<std::int32_t>(value);
        case ScalarType::uint32: return value == static_cast<std::uint32_t>(value);
        case ScalarType::uint64: return value >= 0;
        default: return true;
    }
}

std::string span_text(std::int64_t first, std::int64_t last) {
    return std::to_string(first) + " to " + std::to_string(last);
}

[[noreturn]] void refuse_generator(const BindRequest& request, std::size_t i, const std::string& what) {
    fail(request, i, ErrorCode::value_range, what);
}

/// The last value along an axis that has some; none past what 64 bits hold.
std::optional<std::int64_t> last_of(const Axis& axis) {
    const Wide exact = Wide{axis.extent - 1} * axis.stride + axis.offset;
    const auto last = static_cast<std::int64_t>(exact);
    return Wide{last} == exact ? std::optional(last) : std::nullopt;
}

bool holds(ScalarType scalar, const Axis& axis, std::int64_t last) {
    return holds(scalar, axis.offset) && holds(scalar, last);
}

void check_axis(const BindRequest& request, std::size_t i, const Axis& axis) {
    const Argument& argument = request.call.arguments[i];
    if (axis.extent == 0) {
        return;
    }
    const std::optional<std::int64_t> end = last_of(axis);
    if (!end) {
        refuse_generator(request, i, "its values pass what 64 bits hold");
    }
    const std::int64_t last = *end;
    if (!holds(argument.element.scalar, axis, last)) {
        refuse_generator(request, i,
                         "its values, " + span_text(axis.offset, last) +
                             ", don't fit the parameter's type, " + type_text(argument));
    }
}

bool holds_count(ScalarType scalar, std::int64_t count) { return count <= 0 || holds(scalar, count - 1); }

void check_indices(const BindRequest& request, std::size_t i, std::int64_t count) {
    const Argument& argument = request.call.arguments[i];
    if (!holds_count(argument.element.scalar, count)) {
        refuse_generator(request, i,
                         "its indices, " + span_text(0, count - 1) + ", don't fit the parameter's type, " +
                             type_text(argument));
    }
}

bool is_range(const RandFloat& random) {
    return random.min < random.max && std::isfinite(random.max - random.min);
}

void check_random(const kinds::Generator& kind, const BindRequest& request, std::size_t i) {
    const void* value = request.arguments[i].generator;
    if (const WangHash hash = hash_of(kind, value); hash.warmup > max_warmup) {
        refuse_generator(request, i,
                         "warmup " + std::to_string(hash.warmup) + " is above " + std::to_string(max_warmup));
    }
    if (kind.generator == GeneratorKind::rand_float) {
        const auto random = read<RandFloat>(value);
        if (!is_range(random)) {
            refuse_generator(request, i,
                             "random numbers from " + std::to_string(random.min) + " to below " +
                                 std::to_string(random.max) +
                                 ": both must be finite, the second greater, and their distance a float");
        }
    }
}

/// Tells whether so many integers are given, or one where there is one dimension.
bool is_grids_shape(const ArgShape& given, std::int64_t rank) {
    const bool is_list = given.kind == ArgShape::Kind::weak || given.kind == ArgShape::Kind::array;
    const bool is_whole = !is_floating(given.scalar) && given.scalar != ScalarType::boolean;
    if (!is_list || !is_whole || given.components || given.is_torch) return false;
    return given.shape.empty() ? rank == 1 : given.shape == Dims{rank};
}

}  // namespace

std::string describe(const kinds::Generator& kind, const Argument& argument) {
    return generator_text(kind.generator, argument.rank);
}

std::optional<int> conversion_cost(const kinds::Generator& kind, const Argument& argument,
                                   const ArgShape& given) {
    if (given.kind == ArgShape::Kind::absent) {
        return has_host_value(argument) ? std::nullopt : std::optional(0);
    }
    if (kind.generator == GeneratorKind::grid && is_grids_shape(given, argument.call_rank)) {
        constexpr int as_grid = 50;
        return as_grid;
    }
    const bool fits = kind.generator == given.generator && given.kind == ArgShape::Kind::generator &&
                      given.shape.size() == static_cast<std::size_t>(argument.call_rank);
    return fits ? std::optional(0) : std::nullopt;
}

void read_given(const kinds::Generator& kind, const Argument& argument, const Arg& arg, ArgumentView& view) {
    if (arg.kind != Arg::Kind::generator) {
        return;
    }
    view.generator = arg.value;
    for (std::int64_t d = 0; arg.value != nullptr && d < argument.call_rank; ++d) {
        const Axis axis = axis_of(kind, argument, arg.value, static_cast<std::size_t>(d));
        view.data.extents.push_back(axis.extent);
        view.data.strides.push_back(axis.stride);
    }
}

void check_given(const kinds::Generator&, const BindRequest& request, std::size_t i) {
    const Dims& extents = request.arguments[i].data.extents;
    for (const std::int64_t extent : extents) {
        if (extent < 0) {
            refuse_generator(
                request, i,
                "extent " + std::to_string(extent) + " of shape " + to_string(extents) + " is negative");
        }
    }
}

Dims flat_extents(const kinds::Generator&, const Argument&, const ArgumentView& view) {
    return view.data.extents;
}

void check_values(const kinds::Generator& kind, const BindRequest& request, std::size_t i,
                  const Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    const void* value = request.arguments[i].generator;
    switch (kind.generator) {
        case GeneratorKind::none: break;
        case GeneratorKind::thread_id: check_indices(request, i, binding.total); break;
        case GeneratorKind::call_id:
            for (const std::int64_t extent : binding.shape) {
                check_indices(request, i, extent);
            }
            break;
        case GeneratorKind::range:
            if (read<Range>(value).step == 0) {
                refuse_generator(request, i, "a range's step can't be 0");
            }
            [[fallthrough]];
        case GeneratorKind::grid:
            for (std::int64_t d = 0; d < argument.call_rank; ++d) {
                check_axis(request, i, axis_of(kind, argument, value, static_cast<std::size_t>(d)));
            }
            break;
        case GeneratorKind::wang_hash:
        case GeneratorKind::rand_float: check_random(kind, request, i); break;
    }
}

bool takes(const kinds::Generator& kind, const Argument& argument, const void* value, Dims& extents) {
    if (is_random(kind.generator)) {
        return hash_of(kind, value).warmup <= max_warmup &&
               (kind.generator == GeneratorKind::wang_hash || is_range(read<RandFloat>(value)));
    }
    for (std::int64_t d = 0; d < argument.call_rank; ++d) {
        const Axis axis = axis_of(kind, argument, value, static_cast<std::size_t>(d));
        const std::optional<std::int64_t> last = axis.extent > 0 ? last_of(axis) : std::nullopt;
        if (!last || !holds(argument.element.scalar, axis, *last)) return false;
        extents.push_back(axis.extent);
    }
    return kind.generator != GeneratorKind::range || read<Range>(value).step != 0;
}

bool holds_indices(const kinds::Generator& kind, const Argument& argument,
                   std::span<const std::int64_t> shape, std::int64_t total) {
    const ScalarType scalar = argument.element.scalar;
    if (kind.generator == GeneratorKind::thread_id) return holds_count(scalar, total);
    return std::ranges::all_of(shape, [&](std::int64_t extent) { return holds_count(scalar, extent); });
}

void bind_view(const kinds::Generator&, const BindRequest& request, std::size_t i, Binding& binding) {
    // Its strides count steps of its values; there is no memory behind them.
    ScalarView steps = request.arguments[i].data;
    steps.present = true;
    CallView& data = binding.arguments[i].data;
    data = along_call(request.call.arguments[i], steps, binding.shape.size());
    data.present = false;
}

void pack_record(const kinds::Generator& kind, const Argument& argument, const Record& record,
                 const void* value, std::byte* target) {
    if (record.kind == RecordKind::grid) {
        const std::size_t count = record.dimensions.size();
        for (std::size_t d = 0; d < count; ++d) {
            const Axis axis = axis_of(kind, argument, value, d);
            put(target + 8 * d, axis.offset);
            // Where it is broadcast along a dimension of the call, all calls have its first value.
            put(target + 8 * (count + d), axis.extent == 1 ? std::int64_t{0} : axis.stride);
        }
        return;
    }
    const WangHash given = hash_of(kind, value);
    const HashRecord hash{given.hash_seed ? wang_hash(given.seed) : given.seed, given.warmup};
    if (record.kind == RecordKind::hash) {
        return put(target, hash);
    }
    const auto random = read<RandFloat>(value);
    put(target, RandomRecord{hash, random.min, random.max - random.min, last_of(random)});
}

}  // namespace kf::detail
