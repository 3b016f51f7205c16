// kf.Sampler: how texels become the value at a place between them.
#pragma once

#include <kf/sampler.h>

#include "python/common.h"

namespace kf::python {

struct SamplerObject {
    using PythonClass = SamplerObject;

    Sampler sampler;
};

/// The sampler in `value`, or null when it isn't one.
const Sampler* as_sampler(py::handle value);

/// "Sampler(filter='linear', address='clamp')".
std::string sampler_text(const Sampler& sampler);

}  // namespace kf::python
