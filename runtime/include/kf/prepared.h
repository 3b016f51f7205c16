// kf::PreparedCall: a call whose tensors and shapes are fixed, to run often with other values.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <kf/any_texture.h>
#include <kf/device.h>
#include <kf/encoder.h>
#include <kf/function_ref.h>
#include <kf/generator.h>
#include <kf/generator_kind.h>
#include <kf/half.h>
#include <kf/sampler.h>
#include <kf/types.h>

namespace kf {
namespace detail {

class KeptCall;

/// A new value as it is given to set(). Points into it.
struct NewValue {
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double> number;
    const void* value = nullptr;  ///< of anything but a number: one element, or a generator
    ElementType element;
    GeneratorKind generator = GeneratorKind::none;
    std::size_t rank = 0;  ///< of a grid
    const AnyTexture* texture = nullptr;
    const Sampler* sampler = nullptr;

    template <class T>
    static NewValue of(const T& value) {
        NewValue made;
        if constexpr (std::same_as<T, bool>) {
            made.number = value;
        } else if constexpr (std::is_enum_v<T>) {
            return of(static_cast<std::underlying_type_t<T>>(value));
        } else if constexpr (std::signed_integral<T>) {
            made.number = static_cast<std::int64_t>(value);
        } else if constexpr (std::unsigned_integral<T>) {
            made.number = static_cast<std::uint64_t>(value);
        } else if constexpr (std::floating_point<T>) {
            made.number = static_cast<double>(value);
        } else if constexpr (std::same_as<T, half>) {
            made.number = static_cast<double>(static_cast<float>(value));
        } else {
            static_assert(is_block<T>,
                          "set() takes numbers, vectors, matrices, arrays, generators, textures and "
                          "samplers; of a struct set the fields: set(\"ray.t\", 2.f)");
            made.value = &value;
            made.element = element_of<T>;
        }
        return made;
    }
    template <std::size_t N>
    static NewValue of(const Grid<N>& grid) {
        return of_generator(&grid, GeneratorKind::grid, N);
    }
    static NewValue of(const Range& range) { return of_generator(&range, GeneratorKind::range, 1); }
    static NewValue of(const WangHash& hash) { return of_generator(&hash, GeneratorKind::wang_hash, 0); }
    static NewValue of(const RandFloat& random) {
        return of_generator(&random, GeneratorKind::rand_float, 0);
    }

    static NewValue of(const AnyTexture& texture) {
        NewValue made;
        made.texture = &texture;
        return made;
    }
    /// Texture2D<T> and its kin, with a sampler or without.
    template <class T>
    requires requires(const T& typed) {
        { typed.any() } -> std::same_as<const AnyTexture&>;
    }
    static NewValue of(const T& typed) { return of(typed.any()); }
    static NewValue of(const Sampler& sampler) {
        NewValue made;
        made.sampler = &sampler;
        return made;
    }

private:
    static NewValue of_generator(const void* value, GeneratorKind generator, std::size_t rank) {
        NewValue made;
        made.value = value;
        made.generator = generator;
        made.rank = rank;
        return made;
    }
};

void set_value(KeptCall& call, std::string_view name, const NewValue& value);

}  // namespace detail

/// A handle over one call that was bound once: copies are the same call. It owns the memory that it needs:
/// its tensors', what it made for outputs, and what it works in, which each run writes anew. Thread-safe:
/// runs come one after the other, and a value that is set counts from the next run on.
class PreparedCall {
public:
    /// Makes a prepared call that holds none.
    PreparedCall() = default;
    explicit PreparedCall(std::shared_ptr<detail::KeptCall> call) : call_(std::move(call)) {}
    explicit operator bool() const { return call_ != nullptr; }

    /// Runs it, after all that was issued before.
    void operator()() const;
    /// Runs it on a stream: `device` is the call's device, from Device::with_stream(). On one that is
    /// captured it throws DeviceError (stream_captured).
    void operator()(const Device& device) const;
    Result<void> try_call() const {
        return attempt([&] { (*this)(); });
    }
    /// Records it as it is now. In a graph's encoder it becomes a call of the graph's own, with its own
    /// values.
    void append_to(Encoder& encoder) const;

    /// Sets a value, a texture or a sampler for later runs: a parameter, a field of one ("ray.t"), or a
    /// global. A tensor can't be set; a generator, and a texture that feeds the call texel by texel, keeps
    /// its shape. Throws what the call would throw, and then nothing changes.
    template <class T>
    void set(std::string_view name, const T& value) const {
        detail::set_value(call(), name, detail::NewValue::of(value));
    }
    template <class T>
    Result<void> try_set(std::string_view name, const T& value) const {
        return attempt([&] { set(name, value); });
    }

private:
    /// Throws ArgumentError (missing_argument) where there is none.
    [[nodiscard]] detail::KeptCall& call() const;

    std::shared_ptr<detail::KeptCall> call_;
};

/// The result of `prepare()` of a function. `R`: the call's own result, `void` where it is given its outputs.
template <class R>
class Prepared : public PreparedCall {
public:
    Prepared(PreparedCall call, R result) : PreparedCall(std::move(call)), result_(std::move(result)) {}

    /// The tensors that the call returned when it was prepared: they hold what the last run wrote.
    [[nodiscard]] const R& result() const { return result_; }

private:
    R result_;
};

template <>
class Prepared<void> : public PreparedCall {
public:
    explicit Prepared(PreparedCall call) : PreparedCall(std::move(call)) {}
};

namespace detail {

/// An encoder that keeps the one call that is recorded into it.
[[nodiscard]] Encoder preparing_encoder(const FunctionRef& function);
/// Returns the call that preparing_encoder()'s encoder keeps.
[[nodiscard]] PreparedCall prepared_call(Encoder& encoder);

/// Prepares the call that `record(encoder)` records.
template <class Record>
[[nodiscard]] auto prepare(const FunctionRef& function, const Record& record) {
    using R = std::invoke_result_t<Record, Encoder&>;
    Encoder encoder = preparing_encoder(function);
    if constexpr (std::is_void_v<R>) {
        record(encoder);
        return Prepared<void>(prepared_call(encoder));
    } else {
        R result = record(encoder);
        return Prepared<R>(prepared_call(encoder), std::move(result));
    }
}

}  // namespace detail
}  // namespace kf
