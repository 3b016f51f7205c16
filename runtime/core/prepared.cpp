// Prepared calls, and the values that are set of them by name.
#include <kf/prepared.h>

#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/bind_error.h"
#include "core/convert.h"
#include "core/describe.h"
#include "core/encoder_state.h"
#include "core/generator_rules.h"
#include "core/graph_state.h"
#include "core/kept_call.h"
#include "core/kinds/binding.h"
#include "core/module_state.h"

namespace kf {
namespace detail {
namespace {

using manifest::Argument;

constexpr std::size_t largest_scalar = 8;

/// Writes a number as scalar T; false for one that doesn't fit. A bool is made of a bool alone, and a
/// floating number becomes no integer: then `becomes` is false.
template <class T>
bool write_number(const NewValue& value, std::byte* target, bool& becomes) {
    bool fits = false;
    const auto write = [&](auto given) {
        using From = decltype(given);
        if constexpr (!std::same_as<From, std::monostate> && ScalarFor<From, T>) {
            becomes = true;
            fits = number_fits<T>(given);
            const T converted = fitting_number<T>(given);
            std::memcpy(target, &converted, sizeof converted);
        }
    };
    std::visit(write, value.number);
    return fits;
}

bool write_number(ScalarType scalar, const NewValue& value, std::byte* target, bool& becomes) {
    switch (scalar) {
        case ScalarType::boolean: return write_number<bool>(value, target, becomes);
        case ScalarType::int8: return write_number<std::int8_t>(value, target, becomes);
        case ScalarType::int16: return write_number<std::int16_t>(value, target, becomes);
        case ScalarType::int32: return write_number<std::int32_t>(value, target, becomes);
        case ScalarType::int64: return write_number<std::int64_t>(value, target, becomes);
        case ScalarType::uint8: return write_number<std::uint8_t>(value, target, becomes);
        case ScalarType::uint16: return write_number<std::uint16_t>(value, target, becomes);
        case ScalarType::uint32: return write_number<std::uint32_t>(value, target, becomes);
        case ScalarType::uint64: return write_number<std::uint64_t>(value, target, becomes);
        case ScalarType::float16: return write_number<half>(value, target, becomes);
        case ScalarType::float32: return write_number<float>(value, target, becomes);
        case ScalarType::float64: return write_number<double>(value, target, becomes);
    }
    return false;
}

bool is_that_generator(const Argument& argument, const NewValue& value) {
    ArgShape shape;
    shape.kind = ArgShape::Kind::generator;
    shape.generator = value.generator;
    shape.shape = Dims(value.rank, 0);
    return conversion_cost(argument, shape).has_value();
}

std::string new_value_text(const NewValue& value) {
    if (value.generator != GeneratorKind::none)
        return generator_text(value.generator, static_cast<std::int64_t>(value.rank));
    if (value.sampler != nullptr) return "a sampler";
    if (value.texture != nullptr)
        return *value.texture ? with_article(to_string(value.texture->shape())) : "a null texture";
    if (std::holds_alternative<std::monostate>(value.number)) return to_string(value.element);
    if (std::holds_alternative<bool>(value.number)) return "a bool";
    return std::holds_alternative<double>(value.number) ? "a floating number" : "an integer";
}

[[noreturn]] void refuse_type(const KeptCall& call, std::size_t leaf, const NewValue& value) {
    throw ArgumentError(ErrorCode::type_mismatch, call.function().name + ": argument '" +
                                                      host_name(call.call(), leaf) + "': set: expected " +
                                                      host_text(call.call(), leaf) + ", found " +
                                                      new_value_text(value));
}

/// A value as a call takes it.
struct Converted {
    std::array<std::byte, largest_scalar> number{};
    KeptCall::Change change;
};

void convert(KeptCall& call, std::string_view name, const NewValue& value, Converted& converted) {
    const std::size_t leaf = find_settable(call, name);
    const Argument& argument = call.call().arguments[leaf];
    const ElementType element = element_type(argument.element);
    std::array<std::byte, largest_scalar>& number = converted.number;
    Arg arg;
    if (value.texture != nullptr) {
        if (!passes_texture(argument)) refuse_type(call, leaf, value);
        arg.kind = Arg::Kind::texture;
        arg.texture = value.texture;
    } else if (value.sampler != nullptr) {
        if (!passes_sampler(argument)) refuse_type(call, leaf, value);
        arg.kind = Arg::Kind::sampler;
        arg.sampler = value.sampler;
    } else if (value.generator != GeneratorKind::none) {
        if (!is_that_generator(argument, value)) refuse_type(call, leaf, value);
        arg = Arg::make(Arg::Kind::generator, value.value, nullptr, nullptr, nullptr);
    } else if (!passes_value(argument)) {
        refuse_type(call, leaf, value);
    } else if (std::holds_alternative<std::monostate>(value.number)) {
        if (!(element == value.element)) refuse_type(call, leaf, value);
        arg = Arg::make(Arg::Kind::value, value.value, nullptr, nullptr, nullptr);
    } else {
        bool becomes = false;
        const bool fits = element.rank == 0 && write_number(element.scalar, value, number.data(), becomes);
        if (!becomes) refuse_type(call, leaf, value);
        arg =
            Arg::make(fits ? Arg::Kind::value : Arg::Kind::misfit, number.data(), nullptr, nullptr, nullptr);
    }
    converted.change = {leaf, arg};
}

}  // namespace

void set_value(KeptCall& call, std::string_view name, const NewValue& value) {
    Converted converted;
    convert(call, name, value, converted);
    const std::span<KeptCall::Change> changes(&converted.change, 1);
    call.set(changes, call.check(changes));
}

void set_value(GraphState& graph, std::string_view name, const NewValue& value) {
    struct Setting {
        KeptCall* call = nullptr;
        Converted converted;
        std::unique_lock<std::mutex> lock;
    };
    std::vector<Setting> all;
    all.reserve(graph.calls().size());  // what a change points to stays where it is
    for (const std::shared_ptr<KeptCall>& call : graph.calls()) {
        if (!has_settable(*call, name)) continue;
        Setting& setting = all.emplace_back();
        setting.call = call.get();
        convert(*call, name, value, setting.converted);
    }
    if (all.empty()) fail_unknown_value(graph, name);
    for (Setting& one : all) one.lock = one.call->check({&one.converted.change, 1});
    for (Setting& one : all) one.call->set({&one.converted.change, 1}, one.lock);
}

Encoder preparing_encoder(const FunctionRef& function) {
    check_function(function);
    return keeping_encoder(function.module->device().state());
}

PreparedCall prepared_call(Encoder& encoder) {
    return PreparedCall(kept_calls(encoder.state())->calls().back());
}

}  // namespace detail

detail::KeptCall& PreparedCall::call() const {
    if (call_ == nullptr)
        throw ArgumentError(ErrorCode::missing_argument,
                            "a prepared call without a call: prepare() makes one");
    return *call_;
}

void PreparedCall::operator()() const { call().run(*call().device()); }

void PreparedCall::operator()(const Device& device) const { call().run(*device.state()); }

void PreparedCall::append_to(Encoder& encoder) const {
    detail::EncoderState& state = encoder.state();
    if (!state.device->is_same(*call().device())) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            call().function().name + ": the encoder is of another device than the call");
    }
    if (detail::KeptCalls* kept = detail::kept_calls(state)) {
        kept->add(call().copy());
    } else {
        call().append_as_it_is(*state.recorder);
        if (detail::CommandLog* const log = detail::command_log(state)) log->end_part(call().observed());
    }
}

}  // namespace kf
