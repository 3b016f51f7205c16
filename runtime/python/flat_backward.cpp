// Autograd's backward pass of the calls that training makes most: gradients are made here, for the caller.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>

#include "core/driver.h"
#include "core/tensor_state.h"
#include "python/errors.h"
#include "python/function_types.h"
#include "python/graph_block.h"
#include "python/host.h"
#include "python/quick_call.h"

namespace kf::python {
namespace {

constexpr std::size_t most = TaggedArguments::most;

/// Gradients of at most so many elements share one allocation.
constexpr std::int64_t most_shared = 1 << 16;

/// So many calls are often made by one group of threads, which stores its sums. Those of more are added to
/// zeros, which one fill makes for all.
constexpr std::int64_t few_calls = 1 << 10;

/// How a value's gradient is made, see Plan.gradients.
enum class Making : std::uint8_t { none, zeros, empty };
constexpr std::uint8_t is_required = 4;

class FlatGradients final : public MadeGradients {
public:
    /// `needs`: one for each value, behind that of the plan.
    FlatGradients(std::span<const std::uint8_t> plan, std::span<PyObject* const> needs, bool apart)
        : is_apart_(apart) {
        for (std::size_t i = 0; i < plan.size(); ++i) {
            makings_[i] = static_cast<Making>(plan[i] & 3);
            is_needed_[i] = needs[i + 1] == Py_True && makings_[i] != Making::none;
            if (!is_needed_[i] && (plan[i] & is_required) == 0) makings_[i] = Making::none;
            wanted_[i] = makings_[i] == Making::none ? Wanted::nothing : Wanted::gradient;
        }
        count_ = plan.size();
    }

    [[nodiscard]] std::span<const Wanted> wanted() const { return {wanted_.data(), count_}; }

    bool make(TaggedArguments& arguments) override {
        const Torch& torch = *Torch::loaded();
        has_few_calls_ = arguments[count_].tensor->any.size() <= few_calls;
        for (std::size_t i = 0; i < count_; ++i) {
            if (makings_[i] == Making::none) continue;
            const AnyTensor& value = arguments[i].tensor->any;
            if (value.size() == 0 || !value.is_contiguous()) return false;
        }
        if (!is_apart_ && !make_shared(torch, arguments)) return false;
        for (std::size_t i = 0; i < count_; ++i) {
            if (makings_[i] != Making::none && !made_[i] && !make_one(torch, arguments, i)) return false;
        }
        return true;
    }

    void clear(const Device& on) override {
        for (std::size_t i = 0; i < filled_count_; ++i) {
            const detail::TensorState& state = *filled_[i]->tensor.any.state();
            on.state()->driver().fill(state.allocation, state.offset,
                                      static_cast<std::uint64_t>(state.size) * state.element.size(), 0);
        }
    }

    /// None for the plan, then what autograd asked for.
    [[nodiscard]] py::object result() const {
        py::tuple found(1 + count_);
        found[0] = py::none();
        for (std::size_t i = 0; i < count_; ++i) found[1 + i] = is_needed_[i] ? made_[i] : py::none();
        return found;
    }

private:
    /// Those that are small have one allocation, without gaps.
    bool make_shared(const Torch& torch, TaggedArguments& arguments) {
        std::array<std::size_t, most> places;  // NOLINT: never cleared
        std::size_t count = 0;
        std::int64_t total = 0;
        bool has_empty = false;
        for (std::size_t i = 0; i < count_; ++i) {
            if (!is_needed_[i] || makings_[i] == Making::none) continue;
            const detail::TensorState& state = *arguments[i].tensor->any.state();
            if (state.size > (has_few_calls_ ? few_calls : most_shared)) continue;
            if (makings_[i] == Making::empty && (!has_few_calls_ || has_empty)) continue;
            has_empty = has_empty || makings_[i] == Making::empty;
            if (count > 0 && state.element.scalar != arguments[places[0]].tensor->any.state()->element.scalar)
                continue;
            places[count++] = i;
            total += state.size;
        }
        if (count < 2) return true;
        // The largest comes first, where kernels find it aligned.
        const auto size_at = [&](std::size_t place) { return arguments[place].tensor->any.state()->size; };
        std::ranges::stable_sort(std::span(places).first(count), std::greater(), size_at);
        const TaggedArgument& like = arguments[places[0]];
        const ScalarType scalar = like.tensor->any.state()->element.scalar;
        // Memory is filled in words.
        const auto per_word = static_cast<std::int64_t>(size_of(scalar) < 4 ? 4 / size_of(scalar) : 1);
        const std::int64_t rest = (per_word - total % per_word) % per_word;
        py::list sizes(count + (rest != 0 ? 1 : 0));
        for (std::size_t k = 0; k < count; ++k)
            sizes[k] = py::int_(arguments[places[k]].tensor->any.state()->size);
        if (rest != 0) sizes[count] = py::int_(rest);
        const py::object all = torch.empty(py::make_tuple(total + rest), scalar, torch.device(like.value));
        const py::object parts = torch.split(all.ptr(), sizes.ptr());
        const Loan* const lent = arguments.lend(torch, all.ptr());
        if (lent == nullptr || PySequence_Fast_GET_SIZE(parts.ptr()) < static_cast<Py_ssize_t>(count))
            return false;
        if (!has_few_calls_) filled_[filled_count_++] = lent;
        const detail::TensorState& state = *lent->tensor.any.state();
        ForeignTensor part;
        part.kind = ForeignMemoryKind::cuda;
        part.ordinal = arguments.ordinal();
        part.scalar = scalar;
        part.address = state.address();
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t i = places[k];
            const detail::TensorState& value = *arguments[i].tensor->any.state();
            part.shape = value.shape;
            part.strides = detail::row_major(value.shape);
            Loan* const loan = arguments.lend(part);
            if (loan == nullptr) return false;
            arguments[i].loan->set_gradients({}, loan->tensor.any, has_few_calls_);
            part.address += static_cast<std::uint64_t>(value.size) * size_of(scalar);
            made_[i] = py::reinterpret_borrow<py::object>(
                PySequence_Fast_ITEMS(parts.ptr())[static_cast<Py_ssize_t>(k)]);
            if (value.shape.size() != 1) made_[i] = made_[i].attr("view")(to_tuple(value.shape));
        }
        return true;
    }

    bool make_one(const Torch& torch, TaggedArguments& arguments, std::size_t i) {
        const detail::TensorState& value = *arguments[i].tensor->any.state();
        made_[i] = torch.empty_like(arguments[i].value);
        Loan* const loan = arguments.lend(torch, made_[i].ptr());
        if (loan == nullptr) return false;
        const detail::TensorState& state = *loan->tensor.any.state();
        if (!(state.element == value.element) || state.shape != value.shape) return false;
        arguments[i].loan->set_gradients({}, loan->tensor.any, true);
        return true;
    }

    bool is_apart_;  ///< each has an allocation of its own
    std::size_t count_ = 0;
    std::array<Making, most> makings_{};
    std::array<bool, most> is_needed_{};
    std::array<Wanted, most> wanted_{};
    std::array<py::object, most> made_;
    bool has_few_calls_ = false;
    std::size_t filled_count_ = 0;
    std::array<const Loan*, most> filled_{};
};

/// flat_backward(backward, flow, values, needs, plan, apart): see _kf.pyi.
PyObject* flat_backward(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> py::object {
        const Function* const function = count == 5 || count == 6 ? held_backward(given[0]) : nullptr;
        if (function == nullptr || !PyTuple_CheckExact(given[2]) || !PyTuple_CheckExact(given[3]) ||
            !PyBytes_CheckExact(given[4])) {
            throw py::type_error("flat_backward(): takes a kf.Backward, a tensor, two tuples and bytes");
        }
        const auto values = static_cast<std::size_t>(PyTuple_GET_SIZE(given[2]));
        if (static_cast<std::size_t>(PyTuple_GET_SIZE(given[3])) != values + 1 ||
            static_cast<std::size_t>(PyBytes_GET_SIZE(given[4])) != values)
            throw py::value_error("flat_backward(): the numbers of values don't agree");
        if (values + 1 > most || recording() != nullptr || function->has_hooks()) return py::none();
        static PyObject* const names = py::make_tuple(interned("out")).release().ptr();
        PyObject* const* const items = PySequence_Fast_ITEMS(given[2]);
        const Arguments arguments{{items, values}, {names, &given[1]}, function->globals()};
        FlatGradients gradients({reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(given[4])), values},
                                {PySequence_Fast_ITEMS(given[3]), values + 1},
                                count == 6 && given[5] == Py_True);
        QuickCall quick(function->info(), arguments, gradients.wanted());
        if (!quick.run(function->options(), nullptr, &gradients)) return py::none();
        return gradients.result();
    });
}

}  // namespace

void bind_flat_backward(py::module_& module) {
    static PyMethodDef method{"flat_backward",
                              reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(flat_backward)),
                              METH_FASTCALL,
                              "The gradients of a call of plain tensors on CUDA that is known; None for "
                              "others, with nothing done."};
    const auto function = py::reinterpret_steal<py::object>(PyCFunction_NewEx(&method, nullptr, nullptr));
    if (!function) throw py::error_already_set();
    module.attr("flat_backward") = function;
}

}  // namespace kf::python
