// Makes calls as others like them were made.
#include "python/quick_call.h"

#include <array>
#include <cstring>
#include <new>
#include <optional>

#include "core/tensor_state.h"
#include "python/enums.h"
#include "python/exact_numbers.h"
#include "python/generator.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/options.h"
#include "python/sampler.h"
#include "python/stream.h"
#include "python/tensor.h"
#include "python/texture.h"
#include "python/torch_outputs.h"
#include "python/torch_range.h"

namespace kf::python {
namespace {

using detail::Arg;
using Place = KnownCall::Place;
using Result = KnownCall::Result;

/// So many objects, made in place when it is known how many.
template <class T, std::size_t most>
class Few {
public:
    Few() = default;
    ~Few() {
        for (std::size_t i = 0; i < size_; ++i) at(i).~T();
    }
    Few(const Few&) = delete;
    Few& operator=(const Few&) = delete;

    template <class... Parts>
    T& add(Parts&&... parts) {
        return *new (&room_[sizeof(T) * size_++]) T(std::forward<Parts>(parts)...);
    }
    T& operator[](std::size_t i) { return at(i); }
    [[nodiscard]] std::span<T> all() { return {&at(0), size_}; }

private:
    T& at(std::size_t i) { return *std::launder(reinterpret_cast<T*>(&room_[sizeof(T) * i])); }

    std::size_t size_ = 0;
    alignas(T) std::byte room_[sizeof(T) * most];  // NOLINT: never cleared
};

/// Keeps a known call while it is made: other threads may make room for their own meanwhile.
class UnderWay {
public:
    explicit UnderWay(const KnownCall& call) : call_(call) { ++call_.under_way; }
    ~UnderWay() { --call_.under_way; }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

private:
    const KnownCall& call_;
};

/// Reads a shape, if it is exactly an int, or a list or tuple of them, and none is negative.
bool read_shape(PyObject* value, Dims& shape) {
    const bool is_number = PyLong_CheckExact(value);
    PyObject* const* const items = is_number ? &value : PySequence_Fast_ITEMS(value);
    const Py_ssize_t count = is_number ? 1 : PySequence_Fast_GET_SIZE(value);
    for (Py_ssize_t i = 0; i < count; ++i) {
        int overflow = 0;
        const long long extent = PyLong_AsLongLongAndOverflow(items[i], &overflow);
        if (extent < 0 || overflow != 0) return false;
        shape.push_back(extent);
    }
    return true;
}

/// A known call with what is given this time.
class Repetition {
public:
    Repetition(const KnownCall& known, const TaggedArguments& given) : known_(known), given_(given) {}

    /// Returns false where something is odd.
    bool take() {
        for (std::size_t i = 0; i < known_.items; ++i) args_.add();
        for (std::size_t i = 0; i < given_.size(); ++i) {
            if (!place(known_.places[i], i)) return false;
        }
        for (const KnownCall::Output& output : known_.outputs) {
            std::memset(room(output.room), 0, KnownCall::room);
            args_[output.item].kind = Arg::Kind::value;
            args_[output.item].out_value = room(output.room);
        }
        return true;
    }

    [[nodiscard]] std::span<Arg> args() { return args_.all(); }
    [[nodiscard]] const Dims* shape() const { return has_shape_ ? &shape_ : nullptr; }
    /// What was given as stream=; null for nothing.
    [[nodiscard]] PyObject* stream() const { return stream_; }
    /// The context of the tensors; null where there are none.
    [[nodiscard]] const ContextPtr* context() const { return context_; }

    /// Has the results made by PyTorch where its tensors are. Returns false where it would refuse to have one
    /// written.
    bool take_torch() {
        if (given_.torch_tensor() == nullptr) return true;
        if (context_ == nullptr || stream_ != nullptr) return false;
        const Torch& torch = *Torch::loaded();
        for (std::size_t i = 0; i < given_.size(); ++i) {
            if (given_[i].written != nullptr) written_[written_count_++] = given_[i].written;
            if (given_[i].tag.kind != Tag::Kind::torch || !known_.places[i].is_written) continue;
            if (torch.is_inference(given_[i].value) && !torch.is_inference_mode()) return false;
            written_[written_count_++] = given_[i].value;
        }
        for (const Result& result : known_.results) {
            if (result.kind != Result::Kind::made) continue;
            if (result.structure != nullptr && result.scalars == nullptr) continue;
            args_[result.index].maker = &outputs_.add(*context_, given_.torch_tensor(), result.scalars);
        }
        return true;
    }
    /// Tells PyTorch what was written.
    void note_writes() const {
        if (written_count_ == 0) return;
        py::tuple written(written_count_);
        for (std::size_t i = 0; i < written_count_; ++i)
            written[i] = py::reinterpret_borrow<py::object>(written_[i]);
        Torch::loaded()->note_writes(written);
    }

    py::object results(const ContextPtr& context) {
        if (known_.results.empty()) return py::none();
        if (known_.results.size() == 1) return result(known_.results.front(), context);
        const py::object& class_ = known_.info->results;
        py::tuple values(known_.results.size());
        for (std::size_t i = 0; i < known_.results.size(); ++i)
            values[i] = result(known_.results[i], context);
        return class_.attr("_make")(values);
    }

private:
    bool place(const Place& place, std::size_t i) {
        const TaggedArgument& argument = given_[i];
        switch (place.kind) {
            case Place::Kind::nothing: return true;
            case Place::Kind::value: return place_value(place, i);
            case Place::Kind::address:
                args_[place.item].kind = Arg::Kind::pointer;
                args_[place.item].value = room(i);
                return pack_exact_number(argument.value, ScalarType::uint64, room(i));
            case Place::Kind::tensor:
                args_[place.item].kind = Arg::Kind::tensor;
                args_[place.item].tensor = memory(*argument.tensor);
                return is_in_context(*argument.tensor);
            case Place::Kind::pointer: {
                const AnyTensor* tensor = memory(*argument.tensor);
                const std::uint64_t address = tensor->state()->address();
                std::memcpy(room(i), &address, sizeof address);
                args_[place.item].kind = Arg::Kind::pointer;
                args_[place.item].value = room(i);
                args_[place.item].tensor = tensor;
                return is_in_context(*argument.tensor);
            }
            case Place::Kind::generator:
                args_[place.item].kind = Arg::Kind::generator;
                args_[place.item].value = as_exact_generator(argument.value)->data();
                return true;
            case Place::Kind::grid: return place_grid(args_[place.item], argument);
            case Place::Kind::texture: return place_texture(args_[place.item], argument.value);
            case Place::Kind::sampler:
                args_[place.item].kind = Arg::Kind::sampler;
                args_[place.item].sampler = &content<SamplerObject>(argument.value)->sampler;
                return true;
            case Place::Kind::stream: stream_ = argument.value; return true;
            case Place::Kind::shape: has_shape_ = true; return read_shape(argument.value, shape_);
        }
        return false;
    }

    bool place_value(const Place& place, std::size_t i) {
        PyObject* const value = given_[i].value;
        const bool is_list = given_[i].tag.is_list();
        // A device that was opened meanwhile let other threads run.
        if (is_list && PySequence_Fast_GET_SIZE(value) != place.scalars) return false;
        std::byte* target = room(i);
        for (std::size_t k = 0; k < place.scalars; ++k, target += size_of(place.scalar)) {
            PyObject* const number = is_list ? PySequence_Fast_ITEMS(value)[k] : value;
            if (!pack_exact_number(number, place.scalar, target)) return false;
        }
        Arg& arg = args_[place.item];
        arg.kind = Arg::Kind::value;
        arg.value = room(i);
        arg.out_value = place.is_written ? room(i) : nullptr;
        return true;
    }

    /// A pushed gradient takes the place of one that with_grads() made, in whatever thread.
    const AnyTensor* memory(const Tensor& tensor) {
        return tensor.made_grads ? &kept_.add(tensor.any) : &tensor.any;
    }

    bool place_grid(Arg& arg, const TaggedArgument& given) {
        Dims shape;
        // A device that was opened meanwhile let other threads change a list.
        const std::size_t rank = given.tag.is_list() ? given.tag.rank : 1;
        if (!read_shape(given.value, shape) || shape.size() != rank) return false;
        std::int64_t* const numbers = grids_[grid_count_++].data();
        for (std::size_t d = 0; d < shape.size(); ++d) {
            numbers[d] = shape[d];
            numbers[shape.size() + d] = 0;
            numbers[2 * shape.size() + d] = 1;
        }
        arg.kind = Arg::Kind::generator;
        arg.value = numbers;
        return true;
    }

    bool place_texture(Arg& arg, PyObject* value) {
        const bool is_pair = PyTuple_Check(value) != 0;
        const Texture& texture = *content<Texture>(is_pair ? PyTuple_GET_ITEM(value, 0) : value);
        arg.kind = Arg::Kind::texture;
        arg.texture = &texture.any;
        if (is_pair) {
            arg.sampler = &content<SamplerObject>(PyTuple_GET_ITEM(value, 1))->sampler;
        } else if (texture.any.sampler()) {
            arg.sampler = &texture.any.sampler();
        }
        return is_in_context(texture);
    }

    bool is_in_context(const auto& given) {
        if (context_ == nullptr) context_ = &given.context;
        return *context_ == given.context;
    }

    std::byte* room(std::size_t i) { return room_[i]; }

    py::object result(const Result& result, const ContextPtr& context) {
        switch (result.kind) {
            case Result::Kind::given: return py::reinterpret_borrow<py::object>(given_[result.index].value);
            case Result::Kind::value: {
                if (PyObject* const like = given_.torch_tensor())
                    return to_torch_value(result.element, room(result.index), like);
                py::object value = to_python(result.element, room(result.index));
                return result.enumeration == nullptr
                           ? value
                           : as_member(*result.enumeration, std::move(value), *known_.info->classes);
            }
            case Result::Kind::made_texture:
                return py::cast(Texture{args_[result.index].allocated_texture, context});
            case Result::Kind::made: break;
        }
        if (args_[result.index].maker != nullptr)
            return static_cast<const TorchOutput*>(args_[result.index].maker)->made();
        Tensor made = wrap(args_[result.index].allocated, context);
        made.structure = result.structure;
        return py::cast(std::move(made));
    }

    const KnownCall& known_;
    const TaggedArguments& given_;
    const ContextPtr* context_ = nullptr;
    PyObject* stream_ = nullptr;
    bool has_shape_ = false;
    Dims shape_;
    Few<TorchOutput, KnownCall::most_items> outputs_;  // before the arguments, which let go of theirs first
    Few<Arg, KnownCall::most_items> args_;
    Few<AnyTensor, TaggedArguments::most> kept_;
    std::size_t grid_count_ = 0;
    std::array<std::array<std::int64_t, 3 * TaggedArguments::longest_list>, KnownCall::most_grids>
        grids_;  // NOLINT: never cleared
    std::size_t written_count_ = 0;
    std::array<PyObject*, 2 * TaggedArguments::most> written_;  // NOLINT: never cleared
    static constexpr std::size_t rooms = TaggedArguments::most + KnownCall::most_outputs;
    alignas(8) std::byte room_[rooms][KnownCall::room];  // NOLINT: never cleared
};

bool says_anything(const Options& options) {
    return options.deterministic || options.launch || !options.reads.empty() || !options.writes.empty();
}

/// Returns the function on the device.
const detail::FunctionRef& function_on(const KnownCall& known, Context& context) {
    if (known.context == context.number()) return *known.function;
    const detail::FunctionRef& found = context.function(known.info->artifact, known.info->index);
    known.context = context.number();
    known.function = &found;
    return found;
}

}  // namespace

QuickCall::QuickCall(const FunctionInfo& info, detail::PassKind pass, RecordedCalls* encoder,
                     const Arguments& arguments)
    : info_(info),
      pass_(pass),
      encoder_(encoder),
      arguments_(arguments),
      tagged_(pass),
      may_be_kept_(arguments.results == ResultForm::usual && (encoder == nullptr || !encoder->keeps()) &&
                   tagged_.read(arguments) && (encoder == nullptr || tagged_.torch_tensor() == nullptr)) {}

QuickCall::QuickCall(const FunctionInfo& info, const Arguments& arguments, std::span<const Wanted> wanted)
    : info_(info),
      pass_(detail::PassKind::backward),
      encoder_(nullptr),
      arguments_(arguments),
      tagged_(detail::PassKind::backward),
      may_be_kept_(info.known_calls != nullptr && tagged_.read_flat(arguments, wanted)) {}

py::object QuickCall::run(const Options& options, Encoder* before, MadeGradients* gradients) {
    if (!may_be_kept_ || info_.known_calls == nullptr) return {};
    const KnownCall* const known = info_.known_calls->find(key());
    if (known == nullptr) return {};
    may_be_kept_ = false;
    // Values of recorded calls come as tensors.
    if (encoder_ != nullptr && !known->outputs.empty()) return {};
    if (tagged_.torch_tensor() != nullptr && Torch::loaded()->is_deterministic()) return {};
    const UnderWay under_way(*known);
    if (gradients != nullptr && !gradients->make(tagged_)) return {};
    Repetition call(*known, tagged_);
    if (!call.take() || !call.take_torch()) return {};
    ContextPtr other;
    if (call.context() == nullptr) other = encoder_ != nullptr ? encoder_->context() : default_context();
    const ContextPtr& context = call.context() != nullptr ? *call.context() : other;
    const detail::FunctionRef* function = &function_on(*known, *context);
    std::optional<detail::FunctionRef> configured;
    if (may_have_default_options() || says_anything(options)) {
        configured = *function;
        configured->options = default_options().with(options);
        function = &*configured;
    }
    std::optional<Device> on;
    if (call.stream() != nullptr) {
        try {
            on = context->device().with_stream(parse_stream(call.stream(), {}));
        } catch (const ArgumentError&) {
            return {};
        }
    }
    if (tagged_.torch_tensor() != nullptr) {
        const dlpack::ExchangeApi& api = *exchange_of(Py_TYPE(tagged_.torch_tensor()));
        on = context->on_stream(current_stream(api, tagged_.ordinal()));
    }
    {
        const EncoderUse use(encoder_);
        const TorchRange range(tagged_.torch_tensor() != nullptr, *known->info, pass_);
        const GilRelease release;
        if (gradients != nullptr) gradients->clear(*on);
        detail::invoke(*function, known->overload, pass_, call.args(),
                       encoder_ == nullptr ? nullptr : &encoder_->encoder(), call.shape(),
                       on ? &*on : nullptr, before);
    }
    call.note_writes();
    return runs_forward(pass_) ? call.results(context) : py::none();
}

void QuickCall::keep(const FunctionInfo& chosen, const manifest::Call& overload) {
    if (!may_be_kept_) return;
    if (info_.known_calls == nullptr) info_.known_calls = std::make_shared<KnownCalls>(info_.function);
    info_.known_calls->keep(key(), chosen, overload);
}

}  // namespace kf::python
