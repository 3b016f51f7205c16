// A kernel to compile.
#include "slang/kernel_source.h"

namespace kf::gen {

std::string setter_name(const std::string& id) { return "kf_set_" + id; }
std::string getter_name(const std::string& id) { return "kf_get_" + id; }

std::string KernelSource::code_text() const {
    std::string all = text + values;
    for (const Conformance& one : conformances)
        all += "\n" + one.type + ": " + one.interface_name + " = " + std::to_string(one.id);
    for (const std::string& name : padded_textures) all += "\npadded " + name;
    for (const KeptConstant& one : kept) all += "\nkept " + std::to_string(one.id) + " " + one.name;
    if (has_aliases) all += "\naliases";
    return all;
}

}  // namespace kf::gen
