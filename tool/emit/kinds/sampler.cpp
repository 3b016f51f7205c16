// Samplers.
#include "emit/kinds/sampler.h"

#include "emit/kinds/buffer.h"

namespace kf::gen::kinds {

std::optional<MadeValue> made_value(const Sampler&, const MadeUse& use) {
    return MadeValue{bound_name(use.planned.host.name), {}, {}};
}

std::string cpp_passed_type(const Sampler&, const PlannedArgument&, const CppStructs&) {
    return "kf::Sampler";
}

PythonTypes python_types(const Sampler&, const PlannedArgument&, bool) { return python_buffer; }

std::string described(const Sampler&, const PlannedArgument&) { return std::string("in, sampler"); }

}  // namespace kf::gen::kinds
