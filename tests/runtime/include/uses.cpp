// What applications do with the public headers. tests/lint/public_headers.py compiles it with warnings as
// errors: inline code has most of its warnings only where it is instantiated and optimised.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <kf/change.h>
#include <kf/configured.h>
#include <kf/cuda.h>
#include <kf/dual.h>
#include <kf/invoke.h>
#include <kf/kf.h>
#include <kf/overload.h>
#include <kf/vulkan.h>

// A struct, and functions that take every form of argument, as kfgen generates them.
namespace made {

struct Ray {
    kf::float3 origin{};
    float length{};

    bool operator==(const Ray&) const = default;
};

}  // namespace made

template <>
struct kf::ElementOf<made::Ray> : kf::StructElement<made::Ray> {};

namespace made {

template <class OriginType, class LengthType>
struct RayFields {
    OriginType origin{};
    LengthType length{};

    template <class... Others>
    requires kf::detail::fields_fit<kf::detail::FieldTypes<OriginType, LengthType>,
                                    kf::detail::FieldTypes<Others...>>
    operator RayFields<Others...>() const { return {origin, length}; }

    friend auto kf_parts(RayFields& whole) { return std::tie(whole.origin, whole.length); }
};
template <class OriginType, class LengthType>
RayFields(OriginType, LengthType) -> RayFields<typename kf::detail::FieldOf<OriginType>::type,
                                               typename kf::detail::FieldOf<LengthType>::type>;

struct Globals {
    std::optional<float> exposure;
    kf::Tensor<float, 2> weights;
    kf::Buffer<Ray> rays;
    kf::RWBuffer<float> sums;
    std::optional<kf::Pointer<float>> place;
    kf::Texture2D<kf::float4> image;
    kf::Sampler sampler;
};

inline void put_values(const Globals& values, kf::detail::GlobalValues& all) {
    all.set("exposure", values.exposure);
    all.set("weights", values.weights);
    all.set("rays", values.rays);
    all.set("sums", values.sums);
    all.set("place", values.place);
    all.set("image", values.image);
    all.set("sampler", values.sampler);
}

using Rays = RayFields<kf::Tensor<kf::float3, 1>, float>;
using RayBackward = RayFields<kf::DiffArg<kf::float3>, kf::DiffArg<float>>;

class Shade : public kf::Overloads<
                  kf::PassKind::forward,
                  kf::Overload<0, kf::Tensor<float, 1>(const Rays& rays, kf::ScalarArg<float> scale)>,
                  kf::Overload<0, void(const Rays& rays, kf::ScalarArg<float> scale,
                                       const kf::Out<kf::Tensor<float, 1>>& result)>,
                  kf::Overload<1, float(const Ray& ray, kf::ScalarArg<float> scale), kf::CallOnly>,
                  kf::Overload<2, kf::Tensor<kf::float2x3, 3>(const kf::Tensor<Ray, 3>& rays)>,
                  kf::Overload<3, kf::RWTexture2D<kf::float4>(const kf::Texture2D<kf::float4>& image,
                                                              const kf::Sampler& sampler)>,
                  kf::Overload<4, void(const kf::Sampler2D<kf::float4>& image,
                                       const kf::Out<kf::RWTexture2D<kf::float4>>& result)>,
                  kf::Overload<5, void(const kf::Buffer<Ray>& rays, const kf::RWBuffer<float>& sums,
                                       const kf::Pointer<const float>& place)>,
                  kf::Overload<6, kf::Tensor<int, 2>(const kf::Grid<2>& grid, const kf::Range& range,
                                                     const kf::WangHash& hash, const kf::RandFloat& random)>,
                  kf::Overload<7, void(std::array<Ray, 4>& rays, kf::float4x4& matrix), kf::CallOnly>,
                  kf::Overload<8, Ray(const Ray& ray, const std::array<std::int64_t, 3>& shape), kf::CallOnly,
                               kf::Shaped, kf::Items<0, kf::item::inout(1)>>>,
              public kf::WithOptions<Shade>,
              public kf::WithAccumulate<Shade>,
              public kf::WithMaps<Shade>,
              public kf::WithThreads<Shade>,
              public kf::WithGlobals<Shade, Globals>,
              public kf::WithHooks<Shade, kf::HookContextOf<Globals>> {
public:
    class Backward
        : public kf::Overloads<
              kf::PassKind::backward,
              kf::Overload<
                  0, void(const RayBackward& rays, kf::DiffArg<float> scale, kf::OutputArg<kf::half2> result),
                  kf::CallOnly>,
              kf::Overload<1,
                           void(const kf::Tensor<float, 2>& rays, kf::DiffArg<std::array<float, 3>> scale)>> {
    public:
        using Overloads::Overloads;
    };
    class Jvp
        : public kf::Overloads<kf::PassKind::forward,
                               kf::Overload<0, kf::Dual<float>(const kf::Dual<float>& x,
                                                               const kf::Dual<kf::Tensor<float, 1>>& y)>> {
    public:
        using Overloads::Overloads;
    };

    explicit Shade(const kf::detail::FunctionRef& function)
        : Overloads(function), backward(function), jvp(kf::detail::jvp_of(function)) {}

    Backward backward;
    Jvp jvp;
};

class Plain : public kf::Overloads<kf::PassKind::fused,
                                   kf::Overload<0, double(kf::ScalarArg<int> count), kf::CallOnly>>,
              public kf::WithHooks<Plain> {
public:
    using Overloads::Overloads;
};

class Module {
public:
    explicit Module(const kf::Device& device) : Module(kf::Module::load(device, {})) {}
    explicit Module(kf::Module loaded)
        : loaded_(std::move(loaded)), shade(loaded_.function("shade")), plain(loaded_.function("plain")) {}
    Module(const Module& other, const kf::detail::Change& change)
        : loaded_(other.loaded_),
          shade(change(other.shade, kf::detail::Takes::both)),
          plain(change(other.plain)) {}

    [[nodiscard]] Module options(const kf::Options& chosen) const {
        return {*this, kf::detail::Change::of_options(chosen)};
    }
    [[nodiscard]] Module set(const Globals& values) const {
        return {*this, kf::detail::Change::of_globals(values)};
    }
    [[nodiscard]] Module hook(const std::function<void(kf::HookContext&)>& callback) const {
        return {*this, kf::detail::Change::of_hook(callback)};
    }

private:
    kf::Module loaded_;

public:
    Shade shade;
    Plain plain;
};

}  // namespace made

// An explicit instantiation has every member. Those that only some elements have are used below.
template class kf::Tensor<bool, 0>;
template class kf::Tensor<std::int8_t, 1>;
template class kf::Tensor<kf::half, 2>;
template class kf::Tensor<float, 3>;
template class kf::Tensor<double, 4>;
template class kf::Tensor<kf::float3, 5>;
template class kf::Tensor<kf::half4x4, 6>;
template class kf::Tensor<std::array<kf::float3, 4>, 7>;
template class kf::Tensor<made::Ray, kf::max_rank>;
template class kf::Buffer<float>;
template class kf::Buffer<made::Ray>;
template class kf::RWBuffer<std::uint16_t>;
template class kf::Pointer<float>;
template class kf::Pointer<const kf::float3>;
template class kf::Pointer<void>;
template class kf::Texture<float, kf::TextureKind::one>;
template class kf::Texture<kf::half2, kf::TextureKind::one_array>;
template class kf::Texture<kf::float4, kf::TextureKind::two>;
template class kf::Texture<kf::uint3, kf::TextureKind::two_array>;
template class kf::Texture<kf::int4, kf::TextureKind::three>;
template class kf::Texture<kf::half, kf::TextureKind::cube>;
template class kf::Texture<kf::float3, kf::TextureKind::cube_array>;
template class kf::RWTexture<kf::float4, kf::TextureKind::two>;
template class kf::RWTexture<kf::float2, kf::TextureKind::three>;
template class kf::Sampled<kf::float4, kf::TextureKind::cube>;
template struct kf::Diff<float>;
template struct kf::Diff<kf::half3>;
template struct kf::Diff<std::array<kf::half3, 4>>;
template class kf::DiffArg<double>;
template class kf::DiffArg<kf::float2x2>;
template class kf::OutputArg<made::Ray>;
template class kf::OutputArg<std::array<kf::half3, 4>>;
template struct kf::Dual<float>;
template struct kf::Dual<kf::Tensor<kf::half, 2>>;
template class kf::ScalarArg<std::int8_t>;
template class kf::ScalarArg<kf::half, float>;
template class kf::ScalarArg<bool>;
template struct kf::Grid<3>;
template class kf::Result<std::vector<kf::float3>>;
template class kf::Result<kf::Device>;
template class kf::Prepared<kf::Tensor<float, 2>>;

namespace uses {

using kf::Device;

std::int64_t dims(std::int64_t n, std::span<const std::int64_t> given) {
    kf::Dims none;
    const kf::Dims two{n, 2};
    const kf::Dims same(3, n);
    kf::Dims all(given);
    all.push_back(n);
    all[0] = 1;
    all.erase(0);
    none = all;
    kf::Dims copy = none;
    copy = two;
    std::int64_t sum = copy == same ? 1 : 0;
    for (const std::int64_t value : copy) sum += value;
    const std::vector<kf::Dims> several{two, same, copy, none, kf::Dims{}};
    for (const kf::Dims& one : several) sum += static_cast<std::int64_t>(one.size()) + one[0];
    const std::pair<kf::Dims, std::optional<kf::Dims>> both{{}, {}};
    const auto moved = both;
    kf::TextureShape shape;
    const kf::TextureShape another = shape;
    shape = another;
    return sum + static_cast<std::int64_t>(moved.first.size() + shape.extents.size());
}

kf::Dims returned(bool full) {
    kf::Dims result;
    if (full) result = {1, 2, 3};
    return result;
}

template <class T>
void tensors(const Device& device, std::vector<T> values, std::span<const T> all, T value) {
    const auto n = static_cast<std::int64_t>(values.size());
    const kf::Tensor<T, 1> one = device.tensor<T>({value, value});
    const kf::Tensor<T, 2> two = device.tensor<T>({{value, value}, {value, value}});
    const kf::Tensor<T, 3> three = device.tensor<T>({{{value}, {value}}});
    const kf::Tensor<T, 1> copied = device.tensor(values);
    const kf::Tensor<T, 2> shaped = device.tensor<T>(all, {n, 1});
    const kf::Tensor<T, 0> zero = device.zeros<T>(kf::Shape<0>{});
    const kf::Tensor<T, 8> eight = device.ones<T>({1, 1, 1, 1, 1, 1, 1, n}).with_grads();
    const kf::Tensor<T, 4> four = device.empty<T>({n, 2, n, 2});
    copied.copy_from(all);
    copied.copy_from({value, value, value});
    const auto slices = four.slice(1, 0, n, 2).select(0, -1).transpose().transpose({2, 1, 0});
    const auto wide = one.broadcast_to({n, 2}).reshape({n, 2, 1});
    const auto bytes = two.template view<std::uint8_t, 3>();
    const kf::Tensor<T, 1> with = one.with_grads(one, copied);
    kf::Tensor<T, 1> grad = with.grad_in() ? with.grad_in() : with.grad_out();
    if (!grad) grad = with.grad();
    std::vector<T> host = grad.to_vector();
    if (const auto result = shaped.try_to_vector(); result.ok()) host = result.value();
    if (const auto result = copied.try_copy_from(all); !result) kf::throw_error(result.error());
    if (three.shape()[0] + zero.size() + eight.strides()[7] + wide.size() + bytes.size() == n)
        one.device().wait();
    if (slices.is_contiguous() && slices.address() != 0) values = host;
}

template <class T>
void buffers(const Device& device, const std::vector<T>& values) {
    const kf::Buffer<T> read(device, values);
    const kf::RWBuffer<T> written = device.empty<T>({static_cast<std::int64_t>(values.size())});
    const kf::Buffer<T> same = written;
    const kf::Buffer<void> bytes = same;
    const kf::RWBuffer<void> more = written;
    const kf::Buffer<T> with = read.with_grads().with_grads(written);
    const kf::RWBuffer<T> grad = with.grad();
    const kf::Tensor<T, 1> tensor = written;
    written.copy_from(grad.to_vector());
    const kf::Pointer<T> place = tensor;
    const kf::Pointer<const T> constant = read;
    const kf::Pointer<void> anything = written;
    if (bytes.size() == more.size() && place.address() == constant.address() + anything.address())
        written.tensor().copy_from(same.to_vector());
}

template <class T, kf::TextureKind kind>
void texels(const kf::Texture<T, kind>& texture, const kf::RWTexture<T, kind>& written) {
    const kf::Texture<T, kind> same = written;
    const auto found = same.to_vector();
    written.copy_from(found);
    if (const auto result = written.try_copy_from(found); !result) kf::throw_error(result.error());
    const auto extents = texture.shape();
    const auto region = texture.region_to_vector(extents, extents);
    written.copy_region_from(extents, extents, region);
    if (const auto result = written.try_copy_region_from(extents, extents, region)) written.generate_mips();
    if (auto result = texture.try_region_to_vector(extents, extents))
        written.copy_from(std::move(result).value());
    const auto tensor = texture.to_tensor();
    written.copy_from(tensor);
    if (const auto result = texture.try_copy_to(tensor); result.ok()) texture.copy_to(tensor);
    if (const auto result = texture.try_to_tensor(); result.ok()) written.copy_from(result.value());
    if (const auto result = texture.try_generate_mips(); !result) kf::throw_error(result.error());
    if (const auto result = texture.mip(1).try_to_vector(); result.ok())
        written.mips(0, written.mips()).copy_from(result.value());
    const auto again = kf::RWTexture<T, kind>::from(tensor, {.mips = 0});
    if (again.any().is_same_view(texture.any())) again.generate_mips();
}

void textures(const Device& device, std::int64_t n) {
    const std::vector<kf::uint8_t4> bytes(static_cast<std::size_t>(n));
    const auto image = kf::Texture2D<kf::float4>::from(
        device, {n, n}, bytes, {.format = kf::TextureFormat::rgba8_srgb, .mips = 0, .layers = 1});
    texels(image, kf::RWTexture2D<kf::float4>::empty(device, {n, n}));
    texels(kf::Texture1D<kf::half>::empty(device, {n}), kf::RWTexture1D<kf::half>::empty(device, {n}));
    const auto volume = kf::RWTexture3D<kf::int2>::empty(device, {n, n, n});
    texels(kf::Texture3D<kf::int2>(volume), volume);
    const auto cubes = kf::RWTextureCubeArray<kf::float3>::empty(device, {n, n}, {.mips = 2, .layers = 12});
    texels(kf::TextureCubeArray<kf::float3>(cubes), cubes);
    const kf::TextureCube<kf::float3> cube(cubes.cube(1));
    const kf::Texture2D<kf::float3> face = cube.layer(3);
    const kf::Texture2DArray<kf::float3> faces = cube.layers(0, 3);
    const auto made = device.try_make([&] { return kf::Texture1DArray<kf::uint4>::empty(device, {n}); });
    kf::Sampler sampler(
        {.filter = kf::Filter::nearest, .lod = {.max = 2}, .border = kf::Border::opaque_black});
    if (sampler.options() == kf::SamplerOptions{.address = {kf::AddressMode::repeat, kf::AddressMode::clamp}})
        sampler = kf::Sampler(device, {.compare = kf::Compare::less});
    const kf::SamplerCubeArray<kf::float3> sampled = cubes.with_sampler(sampler);
    if (made && sampled.sampler() && cubes.cubes(0, 1).layers() == faces.layers()) face.generate_mips();
    const auto shape = to_string(kf::TextureShape{.dimensions = 2, .extents = {n, n}, .writable = true});
    const auto any =
        kf::AnyTexture::empty(device, {.dimensions = 3, .extents = kf::mip_extents({n, n, n}, 1)});
    if (shape == to_string(any.shape())) any.write_region({0, 0, 0}, {n, n, n}, {});
}

/// Structs that are made with designated initializers, which leave out what has a default.
void designated(const Device& device, VkInstance_T* instance, VkImage_T* image, CUarray_st* array) {
    const Device adopted = kf::adopt(kf::VulkanHandles{.instance = instance, .queue_family = 1});
    const kf::AnyTexture texture = kf::adopt(adopted, kf::VulkanImage{.image = image, .layout = 1});
    const kf::AnyTexture another = kf::adopt(device, kf::CudaArray{.array = array});
    const kf::Options options{.deterministic = true, .reads = {texture.to_tensor()}};
    const kf::Options same = options.with({.variant = "tiled"}).with({.launch = kf::Launch::groups(1, 2, 3)});
    const kf::DeviceInfo info{.id = "vulkan:0", .index = 1};
    const kf::ElementType element{.scalar = kf::ScalarType::uint8};
    const kf::Range range{.stop = 3};
    const kf::Grid<2> grid{.shape = {2, 3}};
    const kf::WangHash hash{.seed = 3};
    const kf::RandFloat random{.max = 2, .hash_seed = true};
    const kf::TextureOptions texels{.mips = 0};
    kf::Graph graph(device);
    graph.set("range", range);
    graph.set("grid", grid);
    graph.set("hash", hash);
    graph.set("random", random);
    if (info.index == texels.layers && same.deterministic && another) (void)to_string(element);
}

double values() {
    kf::Diff<float> number(2.F);
    kf::Diff<float> both(1, 2.0);
    const kf::Diff<kf::half> small(3);
    kf::Diff<kf::float3> vector({1, 2, 3}, {});
    kf::Diff<std::array<kf::half3, 4>> array;
    kf::Diff<made::Ray> ray{made::Ray{{1, 2, 3}, 4}};
    const kf::DiffArg<float> argument = number;
    const kf::DiffArg<kf::float3> parts{1, 2.F, 3};
    const kf::DiffArg<std::array<kf::half3, 4>> many = array;
    const kf::OutputArg<made::Ray> output = kf::Diff(ray.value);
    const kf::Dual<double> dual(1, 2.F);
    const auto [value, tangent] = kf::Dual<kf::half>(1.F, kf::half(2));
    const kf::ScalarArg<std::uint8_t> byte = std::int64_t{300};
    const kf::ScalarArg<float> real = 1e300;
    const kf::ScalarArg<kf::half> half = 3;
    const kf::ScalarArg<kf::half> wide = 1.0L;
    const kf::float2x3 matrix{{{1, 2, 3}, {4, 5, 6}}};
    kf::double4 four{1, 2, 3, 4};
    for (std::size_t i = 0; i < 4; ++i) four[i] += static_cast<double>(matrix[1][i % 3]);
    const bool fits =
        byte.fits() && real.fits() && half.fits() && wide.fits() && argument.fits() && parts.fits();
    const double sum =
        static_cast<double>(value) + static_cast<double>(tangent) + dual.value + four.x + four.w;
    return fits && many.gradient() != nullptr && output.gradient() == nullptr && small.value == number.value
               ? sum
               : static_cast<double>(both.grad + vector.value.z);
}

kf::Tensor<float, 1> calls(const Device& device, const made::Module& given,
                           const kf::Tensor<float, 1>& place) {
    made::Globals globals;
    globals.exposure = 2.F;
    globals.place = place;
    const made::Module module =
        given.options({.deterministic = true}).set(globals).hook([](kf::HookContext& context) {
            context.device().flush();
            (void)context.encoder();
        });
    const made::Shade& shade = module.shade;
    const kf::Tensor<kf::float3, 1> origins = device.zeros<kf::float3>({4});
    const auto rays = device.empty<made::Ray>({1, 2, 3});
    const kf::Out<kf::Tensor<float, 1>> out = kf::out(place);
    const made::Ray ray{{1, 2, 3}, 4};
    float found = shade(ray, 2);
    shade({origins, 1.F}, 2.0, out);
    const kf::Tensor<float, 1> result = shade(made::RayFields{origins, 1.F}, 3);
    if (const auto tried = shade.try_call(made::Ray{}, 2); tried.ok()) found += tried.value();
    if (auto tried = shade.try_call(rays)) (void)std::move(tried).value().size();

    const auto image = kf::RWTexture2D<kf::float4>::empty(device, {2, 2});
    const kf::Sampler sampler({.filter = kf::Filter::linear});
    const auto filtered = shade(image, sampler);
    shade(image.with_sampler(sampler), kf::out(filtered));
    const kf::RWBuffer<float> sums = device.zeros<float>({4});
    shade.threads(4).groups(1, 2)(device.zeros<made::Ray>({4}), sums, kf::Pointer<const float>(place));
    const auto drawn =
        shade.map({{"random", {0}}})
            .accumulate({{"result", "sum"}})
            .set(globals)
            .hook([&](kf::HookContextOf<made::Globals>& context) { context.set(globals); })(
                kf::Grid<2>{.shape = {2, 2}}, kf::Range{.stop = 2}, kf::WangHash{}, kf::RandFloat{});
    std::array<made::Ray, 4> all{ray};
    kf::float4x4 matrix;
    shade(all, matrix);
    const made::Ray last = shade(all[0], std::array<std::int64_t, 3>{1, 2, drawn.shape()[0]});

    kf::Diff<kf::float3> origin(last.origin);
    kf::Diff<float> length(found);
    kf::Diff<kf::half2> flows;
    shade.backward({origin, length}, length, flows);
    kf::Diff<std::array<float, 3>> three;
    shade.backward(device.zeros<float>({2, 2}).with_grads(), three);
    if (const auto tried = shade.backward.try_call({origin, 1.F}, length, kf::Diff<kf::half2>()); !tried)
        kf::throw_error(tried.error());
    const auto [y, dy] = shade.jvp({1.F, found}, {result, place});
    if (module.plain(3) > static_cast<double>(y + dy) + module.plain.try_call(std::uint8_t{4}).value())
        return result;

    kf::Encoder encoder = device.encoder();
    const auto recorded = shade.append_to(encoder, rays);
    if (const auto tried = shade.try_append_to(encoder, made::RayFields{origins, 1.F}, 2, out); !tried)
        kf::throw_error(tried.error());
    encoder.submit();
    kf::Encoder moved = std::move(encoder);
    if (moved.is_open() && recorded.size() != 0 && moved.try_submit().ok()) device.wait();
    return result;
}

void kept(const Device& device, const made::Shade& shade, const kf::Tensor<float, 1>& place) {
    const made::Rays rays{device.zeros<kf::float3>({4}), 1.F};
    const kf::Prepared<kf::Tensor<float, 1>> call = shade.prepare(rays, 2.F);
    const kf::Prepared<void> other = shade.prepare(rays, 2.F, kf::out(place));
    if (const auto tried = shade.try_prepare({rays.origin, 1.F}, 2.F, kf::out(place)); tried.ok())
        tried.value()();
    call.set("scale", 3);
    call.set("scale", kf::half(2));
    call.set("rays.origin", kf::float3{1, 2, 3});
    call.set("flag", true);
    call.set("kind", kf::Filter::linear);
    call.set("size", std::size_t{3});
    call.set("array", std::array<kf::int2, 3>{});
    call.set("sampler", kf::Sampler());
    call.set("image", kf::Texture2D<kf::float4>());
    call();
    if (call.try_call().ok() && other.try_set("scale", 2.F).ok()) other();

    kf::Graph graph(device);
    call.append_to(graph.encoder());
    shade.append_to(graph.encoder(), rays, 2, kf::out(place));
    graph.node().set("scale", 2);
    graph.set("scale", 2.0);
    graph.replay();
    if (const auto tried = graph.try_set("scale", 1U); tried.ok()) graph.try_replay().value();
    place.copy_from(call.result().to_vector());
}

std::string errors(const std::string& path, VkCommandBuffer_T* commands) {
    try {
        const auto opened = Device::try_open("cuda:0");
        const Device device = opened.ok() ? opened.value() : Device::open();
        const Device same = Device::try_open().value();
        if (const auto loaded = kf::Module::try_load_file(same, path); !loaded)
            return std::string(kf::error_id(loaded.error().code())) + loaded.error().what();
        kf::CommandBufferEncoder encoder(device.with_stream(nullptr), commands);
        kf::RecordedCommands recorded = encoder.try_finish().value();
        recorded.release();
        device.try_flush().value();
        device.try_wait().value();
        for (const kf::DeviceInfo& info : kf::devices())
            if (info.is_cpu) return info.name + device.info().id;
        return kf::Module::load(device, {}).name();
    } catch (const kf::ArgumentError& error) {
        return error.what() + std::to_string(error.native_code());
    } catch (const kf::Error& error) {
        return error.what();
    }
}

template void tensors(const Device& device, std::vector<bool> values, std::span<const bool> all, bool value);
template void tensors(const Device& device, std::vector<std::uint8_t> values,
                      std::span<const std::uint8_t> all, std::uint8_t value);
template void tensors(const Device& device, std::vector<std::int32_t> values,
                      std::span<const std::int32_t> all, std::int32_t value);
template void tensors(const Device& device, std::vector<std::uint64_t> values,
                      std::span<const std::uint64_t> all, std::uint64_t value);
template void tensors(const Device& device, std::vector<kf::half> values, std::span<const kf::half> all,
                      kf::half value);
template void tensors(const Device& device, std::vector<float> values, std::span<const float> all,
                      float value);
template void tensors(const Device& device, std::vector<double> values, std::span<const double> all,
                      double value);
template void tensors(const Device& device, std::vector<kf::float3> values, std::span<const kf::float3> all,
                      kf::float3 value);
template void tensors(const Device& device, std::vector<kf::bool4> values, std::span<const kf::bool4> all,
                      kf::bool4 value);
template void tensors(const Device& device, std::vector<kf::double3x2> values,
                      std::span<const kf::double3x2> all, kf::double3x2 value);
template void tensors(const Device& device, std::vector<made::Ray> values, std::span<const made::Ray> all,
                      made::Ray value);
template void buffers(const Device& device, const std::vector<float>& values);
template void buffers(const Device& device, const std::vector<kf::half3>& values);
template void buffers(const Device& device, const std::vector<made::Ray>& values);

}  // namespace uses
