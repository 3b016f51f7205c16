// What is known of the structs that calls take.
#include "python/struct_views.h"

#include <span>
#include <utility>

#include "core/python_names.h"
#include "python/globals.h"

namespace kf::python {
namespace {

std::span<const manifest::Argument> leaves_of(const manifest::Call& call,
                                              const manifest::ParameterTree& structure) {
    return std::span(call.arguments)
        .subspan(static_cast<std::size_t>(structure.leaf), static_cast<std::size_t>(structure.leaves));
}

}  // namespace

StructView& StructViews::made(const manifest::ParameterTree& structure) {
    const auto known = views_.find(&structure);
    if (known != views_.end()) return known->second;
    StructView view;
    for (std::size_t i = 0; i < structure.fields.size(); ++i) {
        view.fields.push_back(
            {interned(structure.fields[i].name), interned(detail::python_attribute(structure.fields, i))});
    }
    return views_.try_emplace(&structure, std::move(view)).first->second;
}

const StructType& StructViews::type_of(const manifest::Call& call, const manifest::ParameterTree& structure) {
    StructView& view = made(structure);
    if (view.type == nullptr) {
        view.type = struct_type(dtype_of(call, structure), {"dtype", structure.type});
        view.scalars = manifest::struct_scalars(structure, leaves_of(call, structure));
    }
    return *view.type;
}

const manifest::StructScalars* StructViews::scalars_of(const manifest::Call& call,
                                                       const manifest::ParameterTree& structure) {
    (void)type_of(call, structure);
    const std::optional<manifest::StructScalars>& scalars = made(structure).scalars;
    return scalars ? &*scalars : nullptr;
}

}  // namespace kf::python
