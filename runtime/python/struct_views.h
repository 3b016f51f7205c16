// What is known of the structs that calls take, kept from one call to the next.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/field_places.h"
#include "core/manifest.h"
#include "python/common.h"
#include "python/struct_type.h"

namespace kf::python {

struct StructView {
    struct Field {
        py::object name;       ///< Slang's, interned: a key of dicts
        py::object attribute;  ///< of the generated class; mostly the same
    };
    std::vector<Field> fields;
    const StructType* type = nullptr;                ///< once somebody has asked for it
    std::optional<manifest::StructScalars> scalars;  ///< the same; nothing where no tensor of scalars does
};

/// Those of one loaded module, by the tree that a call takes them with. Needs the GIL.
class StructViews {
public:
    const StructView& of(const manifest::ParameterTree& structure) { return made(structure); }
    /// The struct's layout.
    const StructType& type_of(const manifest::Call& call, const manifest::ParameterTree& structure);
    /// What a tensor of PyTorch's holds in the place of such structs; null where none can.
    const manifest::StructScalars* scalars_of(const manifest::Call& call,
                                              const manifest::ParameterTree& structure);

private:
    StructView& made(const manifest::ParameterTree& structure);

    std::unordered_map<const manifest::ParameterTree*, StructView> views_;
};

}  // namespace kf::python
