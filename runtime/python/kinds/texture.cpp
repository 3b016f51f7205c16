// Textures in calls from Python, whole ones and those that feed calls texel by texel.
#include "python/kinds/texture.h"

#include "python/errors.h"
#include "python/texture.h"

namespace kf::python {

using detail::Arg;

Arg convert_item(const manifest::kinds::Texture&, CallItems& items, std::size_t i, const Context&) {
    const Host& host = items.host(i);
    if (host.form != ResultForm::usual) {
        refuse(ErrorCode::type_mismatch, items.where(i),
               std::string("it is written to a texture, which can't be asked for as ") +
                   (host.as_array() ? "an array" : "a tensor") +
                   ": give a kf.Texture, and "
                   "to_numpy() copies it");
    }
    if (host.texture == nullptr) return Arg::none();
    Arg arg;
    arg.kind = Arg::Kind::texture;
    arg.texture = &host.texture->any;
    arg.sampler = host.sampler == nullptr && arg.texture->sampler() ? &arg.texture->sampler() : host.sampler;
    return arg;
}

py::object result_of_item(const manifest::kinds::Texture&, CallItems& items, std::size_t i,
                          const ContextPtr& context) {
    const py::handle given = items.host(i).given;
    if (given) return py::reinterpret_borrow<py::object>(given);
    return py::cast(Texture{items.made_texture(i), context});
}

}  // namespace kf::python
