// kf.Texture: making, reading and writing. Its views are in texture_views.cpp.
#include "python/texture.h"
#include "python/arrays.h"

#include <kf/cuda.h>
#include <kf/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/describe.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/sampler.h"
#include "python/scalars.h"
#include "python/tensor.h"
#include "python/texture_shape.h"
#include "python/texture_views.h"

namespace kf::python {
namespace {

constexpr Where texture_class{"Texture", {}};

py::array array_of(py::handle value, const Where& where) {
    if (!py::isinstance<py::array>(value)) {
        refuse(ErrorCode::type_mismatch, where,
               "a NumPy array is needed, not " + detail::with_article(type_name(value)));
    }
    return py::reinterpret_borrow<py::array>(value);
}

Texture texture_from_numpy(py::handle a, py::handle format, bool writable, py::handle kind, py::handle mips,
                           py::handle device) {
    const char* const owner = "Texture.from_numpy";
    const Where where{owner, "a"};
    const py::array array = array_of(a, where);
    const TextureShape shape =
        shape_of_texels(owner, shape_of(array, where), {format, kind, mips, py::none(), writable});
    check_texel_type(shape, array, where);
    const ContextPtr context = context_of(device, texture_class);
    const auto bytes = pack(array);
    const GilRelease release;
    return {AnyTexture::from_host(context->device(), shape, bytes), context};
}

Texture empty_texture(py::handle extents, py::handle format, py::handle mips, py::handle layers,
                      std::optional<bool> writable, py::handle kind, py::handle device) {
    TextureShape shape =
        shape_of_texture("Texture.empty", extents, {format, kind, mips, layers, writable.value_or(true)});
    if (!writable && info_of(shape.format).texel == TexelClass::srgb) shape.writable = false;
    const ContextPtr context = context_of(device, texture_class);
    const GilRelease release;
    return {AnyTexture::empty(context->device(), shape), context};
}

/// The tensor in `value`, as AnyTexture::copy_from() takes it.
const Tensor& given_tensor(py::handle value, const Where& where) {
    const Tensor* const tensor = as_tensor(value);
    if (tensor == nullptr) {
        refuse(
            ErrorCode::type_mismatch, where,
            "a kf.Tensor is needed, not " + shown(value) +
                (py::isinstance<py::array>(value) ? ": copy_from_numpy() and from_numpy() take arrays" : ""));
    }
    return *tensor;
}

/// Refuses a tensor that isn't of the texels' scalars and shape.
void check_texels(const Tensor& tensor, const TextureShape& shape, const Where& where) {
    const TextureFormatInfo& format = info_of(shape.format);
    if (tensor.structure != nullptr || tensor.any.element().scalar != format.scalar) {
        refuse(ErrorCode::type_mismatch, where,
               "texels of " + std::string(format.name) + " are " + numpy_name(format.scalar) +
                   ", and the tensor is " + detail::with_article(describe(tensor)));
    }
    if (box_of(shape, tensor.any.shape(), where) == shape.extents) return;
    refuse(ErrorCode::shape_mismatch, where,
           "the tensor's shape is " + to_string(tensor.any.shape()) + ", the texels' is " +
               to_string(texel_extents(shape)));
}

Texture texture_from_tensor(py::handle source, py::handle format, bool writable, py::handle kind,
                            py::handle mips) {
    const char* const owner = "Texture.from_tensor";
    const Where where{owner, "tensor"};
    const Tensor& tensor = given_tensor(source, where);
    const TextureShape shape =
        shape_of_texels(owner, tensor.any.shape(), {format, kind, mips, py::none(), writable});
    check_texels(tensor, shape, where);
    const AnyTensor texels = tensor.any;
    const ContextPtr context = tensor.context;
    const GilRelease release;
    const AnyTexture made = AnyTexture::empty(context->device(), shape);
    made.copy_from(texels);
    return {made, context};
}

/// The handle of a VkImage or of a cudaArray, an int.
template <class Handle>
Handle* image_handle(py::handle value, const Where& where) {
    if (!is_integer(value)) {
        refuse(ErrorCode::type_mismatch, where,
               "the handle of a VkImage or a cudaArray is needed, an int, not " + shown(value));
    }
    const py::int_ number(value.attr("__index__")());
    const unsigned long long handle = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        refuse(ErrorCode::value_range, where, shown(value) + " is no handle");
    }
    if (handle == 0) refuse(ErrorCode::missing_argument, where, "the handle is null");
    return reinterpret_cast<Handle*>(static_cast<std::uintptr_t>(handle));
}

Texture adopt_texture(py::handle handle, py::handle extents, py::handle format, py::handle mips,
                      py::handle layers, bool writable, py::handle kind, std::uint32_t layout,
                      bool is_mipmapped, const py::object& owner, py::handle device) {
    const char* const name = "Texture.adopt";
    const Where where{name, "handle"};
    const TextureShape shape = shape_of_texture(name, extents, {format, kind, mips, layers, writable});
    const std::shared_ptr<void> kept = owner.is_none() ? nullptr : shared_owner(owner);
    const ContextPtr context = context_of(device, texture_class);
    if (context->device().info().backend == "cuda") {
        CudaArray array{nullptr, nullptr, shape, kept};
        if (is_mipmapped) {
            array.mipmapped_array = image_handle<CUmipmappedArray_st>(handle, where);
        } else {
            array.array = image_handle<CUarray_st>(handle, where);
        }
        const GilRelease release;
        return {adopt(context->device(), array), context};
    }
    const VulkanImage image{image_handle<VkImage_T>(handle, where), shape, layout, kept};
    const GilRelease release;
    return {adopt(context->device(), image), context};
}

py::array texture_to_numpy(const Texture& self) {
    const TextureShape& shape = self.any.shape();
    const Dims extents = texel_extents(shape);
    py::array result(dtype_of(info_of(shape.format).scalar),
                     std::vector<py::ssize_t>(extents.begin(), extents.end()));
    const std::span bytes(static_cast<std::byte*>(result.mutable_data()),
                          static_cast<std::size_t>(result.nbytes()));
    const AnyTexture source = self.any;
    const GilRelease release;
    source.read(bytes);
    return result;
}

/// The first texel of a box, in NumPy's order.
Dims parse_offset(py::handle offset, const TextureShape& shape) {
    const Where where{"Texture.copy_from_numpy", "offset"};
    const Dims first = parse_shape(offset, where);
    if (first.size() == shape.extents.size()) return first;
    refuse(ErrorCode::rank_mismatch, where,
           to_string(first) + " has " + std::to_string(first.size()) + " numbers, and the texture " +
               std::to_string(shape.extents.size()) + " dimensions");
}

void texture_copy_from_numpy(const Texture& self, py::handle a, py::handle offset) {
    const Where where{"Texture.copy_from_numpy", "a"};
    const TextureShape& shape = self.any.shape();
    const py::array array = array_of(a, where);
    check_texel_type(shape, array, where);
    const Dims box = box_of(shape, shape_of(array, where), where);
    Dims first(shape.extents.size(), 0);
    if (!offset.is_none()) first = parse_offset(offset, shape);
    for (std::size_t k = 0; k < box.size(); ++k) {
        if (offset.is_none() ? box[k] == shape.extents[k] : first[k] + box[k] <= shape.extents[k]) continue;
        refuse(ErrorCode::shape_mismatch, where,
               offset.is_none()
                   ? "the array's shape is " + shown(array.attr("shape")) + ", the texels' is " +
                         shown(to_tuple(texel_extents(shape))) + "; offset= says where a part of them lies"
                   : "texels " + to_string(box) + " at offset " + to_string(first) +
                         " don't lie in a texture of shape " + to_string(shape.extents));
    }
    const auto bytes = pack(array);
    const AnyTexture target = self.any;
    const GilRelease release;
    target.write_region(first, box, bytes);
}

void texture_copy_from(const Texture& self, py::handle source) {
    const Where where{"Texture.copy_from", "tensor"};
    const Tensor& tensor = given_tensor(source, where);
    check_texels(tensor, self.any.shape(), where);
    const AnyTensor texels = tensor.any;
    const AnyTexture target = self.any;
    const GilRelease release;
    target.copy_from(texels);
}

void texture_copy_to(const Texture& self, py::handle given) {
    const Where where{"Texture.copy_to", "tensor"};
    const Tensor& tensor = given_tensor(given, where);
    check_texels(tensor, self.any.shape(), where);
    const AnyTensor texels = tensor.any;
    const AnyTexture source = self.any;
    const GilRelease release;
    source.copy_to(texels);
}

Tensor texture_to_tensor(const Texture& self) {
    const AnyTexture source = self.any;
    AnyTensor texels;
    {
        const GilRelease release;
        texels = source.to_tensor();
    }
    return wrap(texels, self.context);
}

py::object texture_interface(const Texture& self, py::handle dtype, py::handle copy) {
    return answer_array("kf.Texture", dtype, copy, [&] { return texture_to_numpy(self); });
}

std::string represent_texture(const Texture& self) {
    const TextureShape& shape = self.any.shape();
    std::string text = "Texture(shape=" + shown(to_tuple(shape.extents)) + ", format='" +
                       std::string(info_of(shape.format).name) + "', kind='" + kind_word(shape) + "'";
    if (shape.mips != 1) text += ", mips=" + std::to_string(shape.mips);
    if (shape.is_array) text += ", layers=" + std::to_string(shape.layers);
    if (shape.writable) text += ", writable=True";
    text += ", device='" + self.context->device().info().id + "'";
    if (self.any.sampler()) text += ", " + sampler_text(self.any.sampler());
    return text + ")";
}

/// The texture's extent along a dimension, counted from the last one; 1 where it has no such.
template <std::size_t from_last>
std::int64_t extent(const Texture& self) {
    const Dims& extents = self.any.shape().extents;
    return from_last < extents.size() ? extents[extents.size() - 1 - from_last] : 1;
}

}  // namespace

const Texture* as_texture(py::handle value) { return held<Texture>(value); }

std::string describe(const Texture& texture) { return to_string(texture.any.shape()); }

void bind_texture(py::module_& module) {
    py::class_<Texture> type(
        module, "Texture",
        "Texels in device memory, or a view of some mips and layers of them. Calls write to it only if it "
        "is\n"
        "`writable`. Its shape has y before x, (d, h, w), and counts neither layers nor channels.");
    type.def_static(
            "from_numpy", &texture_from_numpy, py::arg("a"), py::arg("format"), py::kw_only(),
            py::arg("writable") = false, py::arg("kind") = py::none(), py::arg("mips") = 1,
            py::arg("device") = py::none(),
            "A copy of `a`, [layers,] [d,] h, w [, channels], of exactly the format's scalars. `kind` is "
            "'1d', '2d',\n'3d' or 'cube', and with '_array' behind it has layers; by default `a` says how "
            "many dimensions there are.\n`mips`: how many, 0 for all down to one texel; further ones than "
            "the first are undefined.")
        .def_static(
            "empty", &empty_texture, py::arg("shape"), py::arg("format"), py::kw_only(), py::arg("mips") = 1,
            py::arg("layers") = py::none(), py::arg("writable") = py::none(), py::arg("kind") = py::none(),
            py::arg("device") = py::none(),
            "Texels undefined; writable where calls can write the format. `layers` makes it an array; of "
            "an array of cubes\nthey are the faces, 6 for each.")
        .def_static("from_tensor", &texture_from_tensor, py::arg("tensor"), py::arg("format"), py::kw_only(),
                    py::arg("writable") = false, py::arg("kind") = py::none(), py::arg("mips") = 1,
                    "A copy of a contiguous kf.Tensor on its device, as from_numpy() takes an array.")
        .def_static(
            "adopt", &adopt_texture, py::arg("handle"), py::arg("shape"), py::arg("format"), py::kw_only(),
            py::arg("mips") = 1, py::arg("layers") = py::none(), py::arg("writable") = false,
            py::arg("kind") = py::none(), py::arg("layout") = 0, py::arg("is_mipmapped") = false,
            py::arg("owner") = py::none(), py::arg("device") = py::none(),
            "A VkImage of the device's, in the VkImageLayout `layout`, in which it is left behind each "
            "batch of commands;\nor a cudaArray, with `is_mipmapped` a cudaMipmappedArray. `owner` is "
            "kept as long as it is used.")
        .def("to_numpy", &texture_to_numpy,
             "A new array of the first mip, [layers,] [d,] h, w [, channels]; waits for what writes the "
             "texture.")
        .def("copy_from_numpy", &texture_copy_from_numpy, py::arg("a"), py::kw_only(),
             py::arg("offset") = py::none(),
             "Overwrites the first mip in place, or with `offset`, y before x, a box of it in all layers.")
        .def("to_tensor", &texture_to_tensor, "A new kf.Tensor of the first mip, copied on the device.")
        .def("copy_from", &texture_copy_from, py::arg("tensor"),
             "Copies a contiguous kf.Tensor into the first mip, on the device.")
        .def("copy_to", &texture_copy_to, py::arg("tensor"),
             "Copies the first mip into a contiguous kf.Tensor, on the device.")
        .def(
            "generate_mips",
            [](const Texture& self) {
                const AnyTexture texture = self.any;
                const GilRelease release;
                texture.generate_mips();
            },
            "Fills all mips from the first one: a texel is the linear sample of the mip before, at its "
            "middle.")
        .def_property_readonly("shape",
                               [](const Texture& self) { return to_tuple(self.any.shape().extents); })
        .def_property_readonly("width", &extent<0>)
        .def_property_readonly("height", &extent<1>, "1 of one dimension.")
        .def_property_readonly("depth", &extent<2>, "1 but of three dimensions.")
        .def_property_readonly(
            "layers", [](const Texture& self) { return self.any.shape().layers; },
            "Of a cube its 6 faces, +x, -x, +y, -y, +z, -z; 1 of what has none.")
        .def_property_readonly("mips", [](const Texture& self) { return self.any.shape().mips; })
        .def_property_readonly("kind", [](const Texture& self) { return kind_word(self.any.shape()); })
        .def_property_readonly("format", [](const Texture& self) { return info_of(self.any.format()).name; })
        .def_property_readonly("channels",
                               [](const Texture& self) { return info_of(self.any.format()).components; })
        .def_property_readonly(
            "dtype", [](const Texture& self) { return dtype_of(info_of(self.any.format()).scalar); },
            "Of the texels as they lie in memory: uint8 of rgba8.")
        .def_property_readonly("ndim", [](const Texture& self) { return self.any.shape().dimensions; })
        .def_property_readonly(
            "nbytes", [](const Texture& self) { return self.any.size_bytes(); }, "Of the first mip.")
        .def_property_readonly("writable", [](const Texture& self) { return self.any.writable(); })
        .def_property_readonly("device", [](const Texture& self) { return self.context; })
        .def("__array__", &texture_interface, py::arg("dtype") = py::none(), py::arg("copy") = py::none())
        .def("__repr__", &represent_texture);
    bind_texture_views(type);
}

}  // namespace kf::python
