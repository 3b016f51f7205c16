// Views of some mips, layers and cubes of a kf.Texture.
#include "python/texture_views.h"

#include "python/errors.h"
#include "python/sampler.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

std::int64_t number_argument(py::handle value, const Where& where) {
    if (!is_integer(value)) {
        refuse(ErrorCode::type_mismatch, where, "an int is needed, not " + shown(value));
    }
    constexpr std::int64_t most = std::int64_t{1} << 31;
    return integer_of(value, where, -most, most - 1, "from -2^31 to 2^31 - 1");
}

using One = AnyTexture (AnyTexture::*)(std::int64_t) const;
using Some = AnyTexture (AnyTexture::*)(std::int64_t, std::int64_t) const;

/// A method that returns one mip, layer or cube. `name`: as in messages.
auto one(const char* name, One view) {
    return [name, view](const Texture& self, py::handle i) {
        return Texture{(self.any.*view)(number_argument(i, {name, "i"})), self.context};
    };
}

auto some(const char* name, Some view) {
    return [name, view](const Texture& self, py::handle first, py::handle count) {
        return Texture{(self.any.*view)(number_argument(first, {name, "first"}),
                                        number_argument(count, {name, "count"})),
                       self.context};
    };
}

Texture with_sampler(const Texture& self, py::handle sampler) {
    const Sampler* const given = as_sampler(sampler);
    if (given == nullptr) {
        refuse(ErrorCode::type_mismatch, {"Texture.with_sampler", "sampler"},
               "a kf.Sampler is needed, not " + shown(sampler));
    }
    return {self.any.with_sampler(*given), self.context};
}

}  // namespace

void bind_texture_views(py::class_<Texture>& type) {
    type.def("mip", one("Texture.mip", &AnyTexture::mip), py::arg("i"),
             "A view of one mip, whose shape it then has. Negative ones count from the end, here and below.")
        .def("mip_range", some("Texture.mip_range", &AnyTexture::mips), py::arg("first"), py::arg("count"),
             "A view of `count` mips.")
        .def("layer", one("Texture.layer", &AnyTexture::layer), py::arg("i"),
             "A view of one layer, which is no array any more, or of one face of a cube, a 2D texture.")
        .def("layer_range", some("Texture.layer_range", &AnyTexture::layers), py::arg("first"),
             py::arg("count"), "A view of `count` layers; of faces a 2D array.")
        .def("cube", one("Texture.cube", &AnyTexture::cube), py::arg("i"),
             "A view of one cube of an array of them.")
        .def("cube_range", some("Texture.cube_range", &AnyTexture::cubes), py::arg("first"), py::arg("count"),
             "A view of `count` cubes of an array of them.")
        .def("with_sampler", &with_sampler, py::arg("sampler"),
             "The same texels for a parameter that is texture and sampler in one, a Sampler2D; in calls "
             "(texture, sampler)\nis the same.")
        .def_property_readonly(
            "sampler",
            [](const Texture& self) -> py::object {
                if (!self.any.sampler()) return py::none();
                return py::cast(SamplerObject{self.any.sampler()});
            },
            "What with_sampler() was given, or None.");
}

}  // namespace kf::python
