// How generated wrappers and the Python extension call a kernel: untyped arguments in, one binder behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <kf/any_tensor.h>
#include <kf/any_texture.h>
#include <kf/buffer.h>
#include <kf/dual.h>
#include <kf/encoder.h>
#include <kf/function_ref.h>
#include <kf/generator.h>
#include <kf/module.h>
#include <kf/pass_kind.h>
#include <kf/pointer.h>
#include <kf/sampler.h>
#include <kf/scalar_arg.h>
#include <kf/texture.h>
#include <kf/value.h>

namespace kf::detail {

/// Makes the tensor of an absent output, where it isn't to be memory of the device's own.
class OutputMaker {
public:
    virtual ~OutputMaker() = default;
    /// Row-major, elements undefined. Called once, when all is checked, and without any lock.
    virtual AnyTensor make(const ElementType& element, const Dims& shape) = 0;
};

/// One host argument: a struct that is passed whole is one. In the order of the call's items, see
/// manifest::Item. Holds pointers only, to what must outlive invoke(). Host values are packed in natural C
/// layout (bool 1 byte, half 2, float3 12).
struct Arg {
    enum class Kind : std::uint8_t { absent, value, tensor, generator, pointer, misfit, texture, sampler };

    /// Members one by one: an object of this size that is filled at once is filled by a slow instruction.
    Arg() noexcept {}  // NOLINT(modernize-use-equals-default)

    Kind kind = Kind::absent;
    const void* value = nullptr;  ///< host value read (in, inout); of generators the Grid, Range …; of
                                  ///< pointers the address, 64 bits
    void* out_value = nullptr;    ///< host value written (out, inout, result of a rank 0 call)
    void* gradient = nullptr;     ///< inputs: added to. Outputs of a backward call: read, what flows in
    const AnyTensor* tensor = nullptr;  ///< of pointers: the memory that they lead to, where that is known
    AnyTensor* pushed = nullptr;   ///< of inputs by value: gets the gradients that are pushed, see kf::Diff
    AnyTensor allocated;           ///< set by invoke(): the tensor made for an absent output
    AnyTexture allocated_texture;  ///< the same of a texture
    bool is_read = false;  ///< of an absent output: the host reads the tensor at once, and nobody else
    OutputMaker* maker = nullptr;  ///< of an absent output: who makes the tensor; null: the device
    const AnyTexture* texture = nullptr;
    const Sampler* sampler = nullptr;  ///< of a combined texture, too

    static Arg none() { return {}; }
    template <HostElement T>
    static Arg in(const T& value) {
        return make(Kind::value, &value, nullptr, nullptr, nullptr);
    }
    /// A number that didn't fit is for invoke() to refuse, which knows the argument's name.
    template <class T, class... Others>
    static Arg in(const ScalarArg<T, Others...>& scalar) {
        return make(scalar.fits() ? Kind::value : Kind::misfit, &scalar.value(), nullptr, nullptr, nullptr);
    }
    /// An input of a backward call: its gradient is added to diff.grad.
    template <class T>
    static Arg in(Diff<T>& diff) {
        Arg arg = make(Kind::value, &diff.value, nullptr, &diff.grad, nullptr);
        arg.pushed = &diff.pushed;
        return arg;
    }
    template <class T>
    static Arg in(const Diff<T>& diff) {
        return make(Kind::value, &diff.value, nullptr, nullptr, nullptr);
    }
    template <class T>
    static Arg in(const DiffArg<T>& value) {
        Arg arg = make(value.fits() ? Kind::value : Kind::misfit, &value.value(), nullptr, value.gradient(),
                       nullptr);
        arg.pushed = value.pushed();
        return arg;
    }
    template <class T, std::size_t N>
    static Arg in(const Tensor<T, N>& tensor) {
        return of(tensor.any());
    }
    template <std::size_t N>
    static Arg in(const Grid<N>& grid) {
        return make(Kind::generator, &grid, nullptr, nullptr, nullptr);
    }
    static Arg in(const Range& range) { return make(Kind::generator, &range, nullptr, nullptr, nullptr); }
    static Arg in(const WangHash& hash) { return make(Kind::generator, &hash, nullptr, nullptr, nullptr); }
    static Arg in(const RandFloat& random) {
        return make(Kind::generator, &random, nullptr, nullptr, nullptr);
    }
    template <class T>
    static Arg in(const Buffer<T>& buffer) {
        return of(buffer.any());
    }
    template <class T>
    static Arg in(const RWBuffer<T>& buffer) {
        return of(buffer.any());
    }
    template <class T>
    static Arg in(const Pointer<T>& pointer) {
        return make(Kind::pointer, &pointer.address_, nullptr, nullptr, &pointer.memory_);
    }
    template <AnyOfTexture T>
    static Arg in(const T& texture) {
        return of(texture.any());
    }
    static Arg in(const Sampler& sampler) { return of(sampler); }
    /// An out parameter or result. A scalar is written when the call returns.
    template <HostElement T>
    static Arg out(T& value) {
        return make(Kind::value, nullptr, &value, nullptr, nullptr);
    }
    template <class T, std::size_t N>
    static Arg out(const Tensor<T, N>& tensor) {
        return of(tensor.any());
    }
    template <class T, std::size_t N>
    static Arg out(const Out<Tensor<T, N>>& given) {
        if (!given.target) throw_null("out: the tensor");
        return of(given.target.any());
    }
    template <class T, TextureKind kind>
    static Arg out(const Out<RWTexture<T, kind>>& given) {
        if (!given.target) throw_null("out: the texture");
        return of(given.target.any());
    }
    template <class X>
    static Arg out(const Out<X>& given) {
        return out(*given.target);
    }
    template <HostElement T>
    static Arg inout(T& value) {
        return make(Kind::value, &value, &value, nullptr, nullptr);
    }
    template <class T, std::size_t N>
    static Arg inout(const Tensor<T, N>& tensor) {
        return of(tensor.any());
    }
    /// Makes the argument from a tensor, of which a null one counts as absent.
    static Arg of(const AnyTensor& tensor) {
        return make(tensor ? Kind::tensor : Kind::absent, nullptr, nullptr, nullptr, &tensor);
    }
    static Arg of(const AnyTexture& texture) {
        Arg arg;
        if (!texture) return arg;
        arg.kind = Kind::texture;
        arg.texture = &texture;
        if (texture.sampler()) arg.sampler = &texture.sampler();
        return arg;
    }
    static Arg of(const Sampler& sampler) {
        Arg arg;
        if (!sampler) return arg;
        arg.kind = Kind::sampler;
        arg.sampler = &sampler;
        return arg;
    }

    static Arg make(Kind kind, const void* value, void* out_value, void* gradient, const AnyTensor* tensor) {
        Arg arg;
        arg.kind = kind;
        arg.value = value;
        arg.out_value = out_value;
        arg.gradient = gradient;
        arg.tensor = tensor;
        return arg;
    }
};

/// Checks, binds and runs call `call_index` (one of the function's overloads).
///
/// Every check comes first: when this throws ArgumentError, nothing was recorded, allocated outputs don't
/// exist and given ones are untouched.
/// Forward: an absent output gets a new row-major tensor in Arg::allocated, or a texture in
/// Arg::allocated_texture; of a rank 0 call with value
/// outputs, *out_value is written (which waits for the device).
/// Fused: as a forward call, and adds to gradients as a backward one.
/// Backward: outputs may be absent, or lack a gradient: then 1 flows in. Gradients are added to.
/// Absent globals, the call's last items, are what function.globals has.
/// With an encoder the call is only recorded: value outputs and value gradients are then an ArgumentError,
/// for they need a read-back.
/// `shape`, when given, takes part in the broadcast as one more argument (for calls whose shape nothing
/// else gives).
/// `on`, when given, is the module's device on a stream of the caller's (Device::with_stream), which the call
/// uses and nothing else remembers: allocated outputs are the module's device's own.
/// The function's hooks come before all of that. `before`, when given, is what hooks that were called already
/// have recorded: it goes right before the call's own commands.
void invoke(const FunctionRef& function, std::size_t call_index, PassKind pass, std::span<Arg> args,
            Encoder* encoder = nullptr, const Dims* shape = nullptr, const Device* on = nullptr,
            Encoder* before = nullptr);

/// The facts of one argument that an overload resolver needs.
struct ArgShape {
    enum class Kind : std::uint8_t {
        absent,     ///< not given: outputs and generators that the host has no part in
        weak,       ///< a Python number or nested list: `scalar` is boolean, int64 or float64 and may become
                    ///< others
        array,      ///< host data of exactly this scalar type (NumPy)
        tensor,     ///< a kf tensor
        generator,  ///< `generator`, of as many dimensions as `shape` has
        texture,    ///< `texture`, and `sampler` where it comes with one
        sampler,    ///< `sampler`
    };
    Kind kind = Kind::absent;
    ScalarType scalar = ScalarType::float32;
    Dims shape;  ///< the element's own extents (float3) come last
    GeneratorKind generator = GeneratorKind::none;
    bool is_torch = false;    ///< of arrays and tensors: they are PyTorch's, whose words are used
    bool is_watched = false;  ///< by PyTorch: rather a tensor than a number
    bool is_cast = false;     ///< by autocast(), to `scalar`
    bool components = false;  ///< of weak ones: the last extent is of x, y, z, w, so it takes a vector
    std::optional<ScalarType> own = {};  ///< of a weak number: its own type, which NumPy's scalars have
    const AnyTexture* texture = nullptr;
    const Sampler* sampler = nullptr;
};

/// The index of the call of function number `function` that fits best; pure. Throws ArgumentError
/// (no_overload, or what is wrong with the argument when there is just one candidate) with every candidate
/// listed.
std::size_t resolve(const FunctionRef& function, std::span<const ArgShape> args);

}  // namespace kf::detail
