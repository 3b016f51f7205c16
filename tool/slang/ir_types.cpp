// Looks types up by how Slang prints them.
#include "slang/ir_types.h"

#include <algorithm>
#include <array>

namespace kf::gen::ir {

bool is_written(Text type) {
    return type.starts_with("OutParam(") || type.starts_with("BorrowInOutParam(") ||
           type.starts_with("InOutParam(") || type.starts_with("RefParam(");
}

Text pointee(Text type) {
    const std::vector<Text> parts = parts_of(type);
    return parts.empty() ? Text() : parts.front();
}

bool is_integer(Text type) {
    return type.starts_with("Int") || type.starts_with("UInt") ||
           (type.starts_with("Vec(") && is_integer(parts_of(type).front()));
}

std::string as_written(const std::string& name) {
    for (const std::string_view ending : {".$init", ".set", ".get", ".ref"}) {
        if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
    }
    return name;
}

Types::Types(const Module& module) : module_(module) {
    for (const Function& function : module.functions) types_[function.id] = function.type;
}

bool Types::is_differentiable(Text type) const {
    if (module_.annotated.contains(type)) return true;
    constexpr std::array<Text, 3> numbers = {"Float", "Half", "Double"};
    if (std::find(numbers.begin(), numbers.end(), type) != numbers.end()) return true;
    const bool holds = type.starts_with("Vec(") || type.starts_with("Mat(") || type.starts_with("Array(");
    const std::vector<Text> parts = holds ? parts_of(type) : std::vector<Text>();
    return !parts.empty() && is_differentiable(parts.front());
}

std::vector<Text> Types::parameters_of(Text callee) const {
    Text id = head_of(callee);
    const auto generic = module_.generics.find(id);
    if (generic != module_.generics.end()) id = generic->second;
    const auto witness = module_.types.find(id);
    const auto type = types_.find(id);
    std::vector<Text> parts;
    if (witness != module_.types.end()) parts = parts_of(witness->second);
    if (type != types_.end()) parts = parts_of(type->second);
    if (!parts.empty()) parts.erase(parts.begin());
    return parts;
}

std::string Types::name_of(Text id) const {
    const auto generic = module_.generics.find(id);
    if (generic != module_.generics.end()) id = generic->second;
    const auto witness = module_.witnesses.find(id);
    if (witness != module_.witnesses.end()) id = witness->second;
    const auto name = module_.names.find(id);
    return std::string(name == module_.names.end() ? id : name->second);
}

}  // namespace kf::gen::ir
