// A call's host arguments as bytes.
#include "check/argument_data.h"

#include <kf/half.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "check/kinds/questions.h"
#include "core/bind_error.h"
#include "core/convert.h"
#include "core/items.h"
#include "core/rows.h"
#include "core/tensor_state.h"

namespace kf::check {
namespace {

using manifest::Argument;
using manifest::Gradient;

constexpr std::int64_t usual_extent = 5;
constexpr std::int64_t largest_extent = 64;
/// A row's length that kernels which walk rows take.
constexpr std::int64_t long_row = 33;
static_assert(long_row >= shortest_row);

template <class T>
T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
void write(std::byte* to, double number) {
    const auto value = static_cast<T>(number);
    std::memcpy(to, &value, sizeof value);
}

/// Returns the shape that is given for the argument; shapes of another rank are for other overloads.
const GivenShape* given_for(const manifest::Function& function, const Argument& argument,
                            const std::vector<GivenShape>& shapes) {
    const GivenShape* found = nullptr;
    for (const GivenShape& shape : shapes) {
        if (!passes_tensor(argument) || shape.extents.size() != static_cast<std::size_t>(argument.rank))
            continue;
        if (shape.argument == function.name + "." + argument.name) return &shape;
        if (shape.argument == argument.name) found = &shape;
    }
    return found;
}

bool takes_gradient(const Argument& argument) {
    return detail::is_input(argument) && argument.gradient != Gradient::never;
}

/// Returns 5; 3, 5; 2, 3, 5 ... as the shape, but for extents that elements and given shapes determine.
std::vector<std::int64_t> call_shape(const manifest::Function& function, const manifest::Call& call,
                                     const std::vector<GivenShape>& shapes, std::int64_t last) {
    const auto rank = static_cast<std::size_t>(call.rank);
    std::vector<std::int64_t> settled(rank, 1);
    for (const Argument& argument : call.arguments) {
        const GivenShape* given = given_for(function, argument, shapes);
        for (std::size_t k = 0; k < argument.map.size(); ++k) {
            std::int64_t extent = extent_in_element(argument, k);
            if (extent == 0 && given != nullptr && k < given->extents.size()) extent = given->extents[k];
            if (extent > 1) settled[static_cast<std::size_t>(argument.map[k])] = extent;
        }
    }
    std::vector<std::int64_t> shape(rank, 2);
    if (rank > 1) shape[rank - 2] = 3;
    // The last that is free, so that rows are long where elements lie in them.
    std::size_t longest = rank;
    while (longest > 1 && settled[longest - 1] > 1) --longest;
    if (rank > 0) shape[longest - 1] = last;
    for (std::size_t d = 0; d < rank; ++d) {
        if (settled[d] > 1) shape[d] = settled[d];
    }
    return shape;
}

/// Whether the call takes tensors whole, so that it may depend on other elements than its own.
bool takes_whole_tensors(const manifest::Call& call) {
    return std::any_of(call.arguments.begin(), call.arguments.end(),
                       [](const Argument& argument) { return has_free_access(argument); });
}

bool writes_whole_tensors(const manifest::Call& call) {
    return std::any_of(call.arguments.begin(), call.arguments.end(), [](const Argument& argument) {
        return has_free_access(argument) && writes_elements(argument);
    });
}

bool can_share(const manifest::Call& call, const Argument& argument) {
    return passes_tensor(argument) && argument.role == manifest::Role::in && takes_gradient(argument) &&
           !has_free_access(argument) && !argument.map.empty() && argument.rank > 0 &&
           !call.strict_broadcasting;
}

/// Returns an extent at which calls with tensors of indices can each have an index of their own.
std::int64_t inner_extent(const manifest::Call& call, const Case& chosen) {
    std::int64_t extent = usual_extent;
    for (const std::int64_t e : chosen.shape) extent = std::max(extent, e);
    for (const Argument& argument : call.arguments) {
        if (!passes_tensor(argument) || is_floating(argument.element.scalar) || has_free_access(argument))
            continue;
        std::int64_t count = 1;
        for (const std::int64_t d : argument.map) count *= chosen.shape[static_cast<std::size_t>(d)];
        extent = std::max(extent, count);
    }
    return call.dispatch == manifest::Dispatch::elements ? std::min(extent, largest_extent) : extent;
}

/// How many threads are launched along z, y and x. Each indexes tensors that have as many elements along all
/// of their dimensions; where a group has one thread the kernel may not look at the index.
std::vector<std::int64_t> launch_shape(const manifest::Function& function, const manifest::Call& call,
                                       const std::vector<GivenShape>& shapes, const GroupSize& group) {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const Argument& argument : call.arguments) {
        const GivenShape* given = given_for(function, argument, shapes);
        if (given == nullptr) continue;
        for (const std::int64_t extent : given->extents) most = std::min(most, extent);
    }
    std::vector<std::int64_t> shape;
    for (std::size_t d = group.size(); d-- > 0;) {
        // An entry point runs in whole groups.
        const auto size = static_cast<std::int64_t>(group[d]);
        const std::int64_t wanted = call.dispatch == manifest::Dispatch::groups ? size : usual_extent;
        shape.push_back(size > 1 ? std::min(wanted, most) : 1);
    }
    return shape;
}

/// The extent of a tensor along its dimension k, which is none of the call's. Buffers have a place for each
/// thread.
std::int64_t tensor_extent(const manifest::Call& call, const Argument& argument, std::size_t k,
                           const GivenShape* given, const Case& chosen) {
    if (given != nullptr) return given->extents[k];
    const auto own = static_cast<std::size_t>(argument.call_rank + argument.inner_rank);
    if (k >= own) return argument.trailing[k - own];
    const std::int64_t extent = inner_extent(call, chosen);
    if (call.dispatch == manifest::Dispatch::elements || !passes_buffer(argument)) return extent;
    std::int64_t threads = 1;
    for (const std::int64_t count : chosen.shape) threads *= count;
    return std::max(extent, threads);
}

class Layouter {
public:
    Layouter(const manifest::Function& function, const manifest::Call& call, const Case& chosen,
             const std::vector<GivenShape>& shapes)
        : function_(function), call_(call), chosen_(chosen), shapes_(shapes) {}

    Arguments lay_out() {
        result_.leaves.resize(call_.arguments.size());
        for (const manifest::Item& whole : call_.items) add_item(whole);
        return std::move(result_);
    }

private:
    void add_item(const manifest::Item& whole) {
        ArgumentData item;
        item.leaf = static_cast<std::size_t>(whole.leaf);
        item.leaves = static_cast<std::size_t>(whole.leaves);
        const Argument& first = call_.arguments[item.leaf];
        const bool is_struct = whole.form != manifest::Form::leaf;
        item.kind = item_kind(first);
        if (item.kind == ArgumentData::Kind::generator || item.kind == ArgumentData::Kind::nothing) {
            item.bytes = drawn_bytes(first, chosen_.shape);
            result_.leaves[item.leaf].item = result_.items.size();
            result_.items.push_back(std::move(item));
            return;
        }
        if (item.kind == ArgumentData::Kind::tensor) {
            item.element = is_struct ? ElementType{} : element_type(first.element);
            if (is_struct) item.element.struct_size = static_cast<std::uint32_t>(whole.size);
            item.shape = tensor_shape(item);
            if (chosen_.layout == Case::Layout::strided) item.gapped = dimensions_apart(item);
        }
        std::int64_t count = 1;
        for (const std::int64_t extent : item.shape) count *= extent;
        const std::size_t size =
            is_struct ? static_cast<std::size_t>(whole.size) : element_type(first.element).size();
        item.bytes.resize(static_cast<std::size_t>(count) * size);
        for (std::size_t i = item.leaf; i < item.leaf + item.leaves; ++i) {
            add_leaf(item, i, static_cast<std::size_t>(count), size);
        }
        result_.items.push_back(std::move(item));
    }

    /// Returns how many dimensions may lie apart: the parameter's own elements, and overwritten ones, don't.
    [[nodiscard]] std::size_t dimensions_apart(const ArgumentData& item) const {
        std::int64_t count = static_cast<std::int64_t>(item.shape.size());
        for (std::size_t i = item.leaf; i < item.leaf + item.leaves; ++i) {
            const Argument& leaf = call_.arguments[i];
            if (requires_contiguous(leaf) || leaf.overwrite || manifest::is_combined(leaf)) return 0;
            count = std::min(count, leaf.call_rank + leaf.inner_rank);
        }
        return static_cast<std::size_t>(count);
    }

    void add_leaf(ArgumentData& item, std::size_t index, std::size_t count, std::size_t size) {
        const Argument& argument = call_.arguments[index];
        Leaf& leaf = result_.leaves[index];
        leaf.item = result_.items.size();
        leaf.scalar = argument.element.scalar;
        leaf.extents.assign(item.shape.begin(), item.shape.end());
        leaf.extents.insert(leaf.extents.end(), argument.element.extents.begin(),
                            argument.element.extents.end());
        const std::vector<std::size_t> within = scalars_within(argument);
        for (std::size_t e = 0; e < count; ++e) {
            for (const std::size_t at : within) {
                leaf.positions.push_back(e * size + static_cast<std::size_t>(argument.offset) + at);
            }
        }
        const bool whole = has_free_access(argument);
        item.input = item.input || depends_on_elements(argument);
        item.written = item.written || writes_elements(argument);
        item.gradient = item.gradient || takes_gradient(argument);
        item.flowing = item.flowing ||
                       (has_flowing_gradient(argument) &&
                        (whole || item.kind == ArgumentData::Kind::tensor || !detail::is_input(argument)));
    }

    /// Where an element's scalars are, in bytes from its start.
    static std::vector<std::size_t> scalars_within(const Argument& argument) {
        const Dims extents(argument.element.extents);
        const Dims spacing = argument.spacing.empty() ? detail::row_major(extents) : Dims(argument.spacing);
        const std::size_t size = size_of(argument.element.scalar);
        std::vector<std::size_t> places{0};
        for (std::size_t d = 0; d < extents.size(); ++d) {
            std::vector<std::size_t> next;
            for (const std::size_t place : places) {
                for (std::int64_t i = 0; i < extents[d]; ++i) {
                    next.push_back(place + static_cast<std::size_t>(i * spacing[d]) * size);
                }
            }
            places = std::move(next);
        }
        return places;
    }

    Dims tensor_shape(const ArgumentData& item) {
        const Argument& argument = call_.arguments[item.leaf];
        const auto rank = static_cast<std::size_t>(argument.rank);
        const auto call_rank = static_cast<std::size_t>(argument.call_rank);
        const GivenShape* given = given_for(function_, argument, shapes_);
        const bool shares =
            std::any_of(call_.arguments.begin() + static_cast<std::ptrdiff_t>(item.leaf),
                        call_.arguments.begin() + static_cast<std::ptrdiff_t>(item.leaf + item.leaves),
                        [&](const Argument& leaf) { return can_share(call_, leaf); });
        // Arguments of lower rank are shared by rows as they are.
        // Those of the tensor itself: an element's have extents of their own.
        const std::size_t own = std::min(rank, call_rank);
        const bool shared_case = chosen_.layout == Case::Layout::shared ||
                                 (chosen_.layout == Case::Layout::rows && argument.call_rank == call_.rank);
        Dims shape;
        for (std::size_t k = 0; k < rank; ++k) {
            std::int64_t extent = 1;
            if (k < call_rank) {
                extent = chosen_.shape[static_cast<std::size_t>(argument.map[k])];
                if (shares && shared_case && (own == 1 || k == sharing_ % own)) extent = 1;
                if (combines(argument, k)) extent = 1;
            } else {
                extent = tensor_extent(call_, argument, k, given, chosen_);
            }
            shape.push_back(extent);
        }
        if (shares) ++sharing_;
        return shape;
    }

    /// Whether calls along an output's dimension k share its elements. Of calls that don't, `first` has
    /// kernels of its own.
    [[nodiscard]] bool combines(const Argument& output, std::size_t k) const {
        if (!manifest::is_combined(output) || output.call_rank < call_.rank) return false;
        switch (chosen_.layout) {
            case Case::Layout::whole:
            case Case::Layout::flat: return output.accumulate != manifest::Accumulate::first;
            case Case::Layout::shared: return k + 1 < static_cast<std::size_t>(output.call_rank);
            case Case::Layout::rows: return k + 1 == static_cast<std::size_t>(output.call_rank);
            default: return true;
        }
    }

    const manifest::Function& function_;
    const manifest::Call& call_;
    const Case& chosen_;
    const std::vector<GivenShape>& shapes_;
    std::size_t sharing_ = 0;  ///< which dimension the next input is broadcast along
    Arguments result_;
};

}  // namespace

const char* case_name(Case::Layout layout) {
    switch (layout) {
        case Case::Layout::whole: return "whole";
        case Case::Layout::strided: return "strided";
        case Case::Layout::shared: return "shared";
        case Case::Layout::rows: return "rows";
        case Case::Layout::flat: return "flat";
    }
    return "";
}

double get(const std::vector<std::byte>& bytes, ScalarType scalar, std::size_t position) {
    const std::byte* from = bytes.data() + position;
    switch (scalar) {
        case ScalarType::float16: return static_cast<double>(static_cast<float>(read<half>(from)));
        case ScalarType::float32: return static_cast<double>(read<float>(from));
        case ScalarType::float64: return read<double>(from);
        default: return 0;
    }
}

void set(std::vector<std::byte>& bytes, ScalarType scalar, std::size_t position, double value) {
    std::byte* to = bytes.data() + position;
    switch (scalar) {
        case ScalarType::boolean: return write<std::uint8_t>(to, value);
        case ScalarType::int8: return write<std::int8_t>(to, value);
        case ScalarType::int16: return write<std::int16_t>(to, value);
        case ScalarType::int32: return write<std::int32_t>(to, value);
        case ScalarType::int64: return write<std::int64_t>(to, value);
        case ScalarType::uint8: return write<std::uint8_t>(to, value);
        case ScalarType::uint16: return write<std::uint16_t>(to, value);
        case ScalarType::uint32: return write<std::uint32_t>(to, value);
        case ScalarType::uint64: return write<std::uint64_t>(to, value);
        case ScalarType::float16: return write<half>(to, value);
        case ScalarType::float32: return write<float>(to, value);
        case ScalarType::float64: return write<double>(to, value);
    }
}

void set_integer(std::vector<std::byte>& bytes, ScalarType scalar, std::size_t position, std::int64_t value) {
    // The low bytes, as two's complement has them.
    std::memcpy(bytes.data() + position, &value, size_of(scalar));
}

double rounded(ScalarType scalar, double value) {
    switch (scalar) {
        case ScalarType::float16: return static_cast<double>(static_cast<float>(half(value)));
        case ScalarType::float32: return static_cast<double>(static_cast<float>(value));
        default: return value;
    }
}

double drawn_value(ScalarType scalar, double number) {
    const double value = rounded(scalar, number);
    return scalar == ScalarType::float16 ? std::round(value * 256) / 256 : value;
}

GroupSize group_size(const manifest::Manifest& manifest, const manifest::Call& call) {
    if (call.dispatch == manifest::Dispatch::elements) return {};
    return manifest.kernels[static_cast<std::size_t>(call.forward.contiguous)].group_size;
}

std::int64_t element_count(const manifest::Function& function, const manifest::Call& call,
                           const Argument& argument, const Case& chosen,
                           const std::vector<GivenShape>& shapes) {
    constexpr std::int64_t too_many = std::int64_t{1} << 32;
    if (!passes_memory(argument)) return 1;
    const GivenShape* given = given_for(function, argument, shapes);
    std::int64_t count = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(argument.rank); ++k)
        count = std::min(count * tensor_extent(call, argument, k, given, chosen), too_many);
    return count;
}

std::vector<Case> cases_of(const manifest::Function& function, const manifest::Call& call,
                           const std::vector<GivenShape>& shapes, const GroupSize& group) {
    const auto has = [&](const auto& predicate) {
        return std::any_of(call.arguments.begin(), call.arguments.end(), predicate);
    };
    const bool launched = call.dispatch != manifest::Dispatch::elements;
    const std::vector<std::int64_t> shape = launched ? launch_shape(function, call, shapes, group)
                                                     : call_shape(function, call, shapes, usual_extent);
    std::vector<Case> cases{{Case::Layout::whole, shape}};
    if (has([](const Argument& one) { return passes_tensor(one) && !requires_contiguous(one); })) {
        cases.push_back({Case::Layout::strided, shape});
    }
    const auto lies_otherwise = [&](const Argument& one) {
        const bool permuted = !std::is_sorted(one.map.begin(), one.map.end());
        return one.call_rank > 0 && (one.call_rank < call.rank || permuted);
    };
    if (call.rank > 1 && has(lies_otherwise) && shapes.empty()) {
        std::vector<std::int64_t> flat(static_cast<std::size_t>(call.rank), 1);
        flat.back() = shape.back();
        const bool fits = std::all_of(call.arguments.begin(), call.arguments.end(), [&](const Argument& one) {
            for (std::size_t k = 0; k < one.map.size(); ++k) {
                if (extent_in_element(one, k) > 1 && one.map[k] + 1 < call.rank) return false;
            }
            return true;
        });
        if (fits) cases.push_back({Case::Layout::flat, flat});
    }
    if (writes_whole_tensors(call) || !has([&](const Argument& one) { return can_share(call, one); }))
        return cases;
    cases.push_back({Case::Layout::shared, shape});
    const bool rows = call.backward.rows >= 0 || call.deterministic.rows >= 0;
    if (rows && !takes_whole_tensors(call)) {
        cases.push_back({Case::Layout::rows, call_shape(function, call, shapes, long_row)});
    }
    return cases;
}

bool is_meant(const GivenShape& shape, const manifest::Function& function, const Argument& argument) {
    return given_for(function, argument, {shape}) != nullptr;
}

Arguments lay_out(const manifest::Function& function, const manifest::Call& call, const Case& chosen,
                  const std::vector<GivenShape>& shapes) {
    return Layouter(function, call, chosen, shapes).lay_out();
}

void fill(Arguments& arguments, const manifest::Call& call, const Case& chosen, double low, double high,
          std::mt19937_64& random) {
    // Indices below every extent that a tensor has.
    std::int64_t indices = takes_whole_tensors(call) ? inner_extent(call, chosen) : usual_extent;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const Argument& argument = call.arguments[i];
        if (!has_free_access(argument)) continue;
        const ArgumentData& item = arguments.items[arguments.leaves[i].item];
        for (std::int64_t k = argument.call_rank; k < argument.call_rank + argument.inner_rank; ++k) {
            indices = std::min(indices, item.shape[static_cast<std::size_t>(k)]);
        }
    }
    std::uniform_real_distribution<double> number(low, high);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const Leaf& leaf = arguments.leaves[i];
        if (leaf.positions.empty()) continue;
        ArgumentData& item = arguments.items[leaf.item];
        const std::size_t start = random() % static_cast<std::uint64_t>(indices);
        std::int64_t scalars = 1;
        for (const std::int64_t extent : call.arguments[i].element.extents) scalars *= extent;
        for (std::size_t p = 0; p < leaf.positions.size(); ++p) {
            double value = 0;
            if (is_floating(leaf.scalar)) {
                value = drawn_value(leaf.scalar, number(random));
            } else if (leaf.scalar == ScalarType::boolean) {
                value = static_cast<double>(random() % 2);
            } else if (!call.arguments[i].members.empty()) {
                const auto& members = call.arguments[i].members;
                value = static_cast<double>(members[(start + p) % members.size()].second);
            } else if (item.kind == ArgumentData::Kind::value) {
                value = static_cast<double>(
                    1 + random() % static_cast<std::uint64_t>(std::max<std::int64_t>(1, indices - 1)));
                value = std::min(value, static_cast<double>(indices - 1));
            } else {
                // Neighbours differ, whatever the element: each of its scalars counts on its own.
                const std::size_t element = p / static_cast<std::size_t>(scalars);
                const std::size_t within = p % static_cast<std::size_t>(scalars);
                value = static_cast<double>((start + element + within) % static_cast<std::size_t>(indices));
            }
            set(item.bytes, leaf.scalar, leaf.positions[p], value);
        }
    }
}

}  // namespace kf::check
