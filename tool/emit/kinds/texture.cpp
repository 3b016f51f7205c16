// Textures.
#include "emit/kinds/texture.h"

#include <kf/texture_format.h>

#include <algorithm>

#include "emit/element.h"
#include "emit/element_statements.h"
#include "emit/kinds/buffer.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Argument;
using manifest::RecordKind;
using manifest::kinds::Texture;
using manifest::kinds::TextureDimension;

/// "Texture2DArray", without RW; "Sampler2D" of one with its sampler.
std::string texture_name(const Texture& texture) {
    std::string name = texture.is_combined ? "Sampler" : "Texture";
    switch (texture.dimension) {
        case TextureDimension::one: name += "1D"; break;
        case TextureDimension::two: name += "2D"; break;
        case TextureDimension::three: name += "3D"; break;
        case TextureDimension::cube: name += "Cube"; break;
    }
    return name + (texture.is_array ? "Array" : "");
}

const Texture& texture_of(const Argument& argument) { return std::get<Texture>(argument.kind); }

bool is_written_to(const Texture& texture) { return texture.access != manifest::Access::read; }

/// Texels of three components lie in four, which kernels read and write as they are.
bool has_fourth(const Argument& argument) { return argument.trailing == std::vector<std::int64_t>{3}; }

/// Where the call's texel is, x first: "uint2(uint(kf_i1 * …), uint(kf_i0 * …))".
std::string coordinates(const Argument& argument, const std::string& strides,
                        const std::vector<std::string>& indices) {
    std::vector<std::int64_t> sorted = argument.map;
    std::sort(sorted.begin(), sorted.end());
    std::string list;
    for (std::size_t i = argument.map.size(); i-- > 0;) {
        const std::int64_t dimension = argument.map[i];
        const auto number = std::find(sorted.begin(), sorted.end(), dimension) - sorted.begin();
        list += (list.empty() ? "" : ", ") + std::string("uint(") +
                indices[static_cast<std::size_t>(dimension)] + ") * uint(" + strides + "[" +
                std::to_string(number) + "])";
    }
    // Layers come first on the host, and last in Slang.
    const std::size_t count = argument.map.size();
    return count == 1 ? list : "uint" + std::to_string(count) + "(" + list + ")";
}

}  // namespace

bool is_array_element(const PlannedArgument& argument, CodeTarget target) {
    const bool is_opaque = argument.type.kind == TypeKind::texture || argument.type.kind == TypeKind::sampler;
    return target == CodeTarget::spirv && is_opaque && argument.path.ends_with(']');
}

std::string array_name(const std::string& element) {
    std::string name = element;
    while (name.ends_with(']')) name.erase(name.rfind('['));
    return name;
}

std::string array_extents(const PlannedCall& call, const PlannedArgument& element) {
    const std::string root = array_name(element.host.name);
    std::vector<std::string> last;
    bool is_first = false;
    for (const PlannedArgument& other : call.arguments) {
        if (!other.host.name.starts_with(root + "[") || array_name(other.host.name) != root) continue;
        if (last.empty()) is_first = other.host.name == element.host.name;
        last = {other.host.name.substr(root.size())};
    }
    if (!is_first) return {};
    // The last element's indices are one less than the extents.
    std::string extents;
    const std::string indices = last.front();
    for (const char c : indices) {
        if (c == '[') {
            extents += c;
            last.emplace_back();
        } else if (c == ']') {
            extents += std::to_string(std::stoll(last.back()) + 1) + c;
        } else {
            last.back() += c;
        }
    }
    return extents;
}

Diagnostics check_texture_arrays(const PlannedCall& call) {
    for (const PlannedArgument& argument : call.arguments) {
        const bool is_opaque =
            argument.type.kind == TypeKind::texture || argument.type.kind == TypeKind::sampler;
        if (!is_opaque || array_name(argument.path).find('[') == std::string::npos) continue;
        return {{Severity::error,
                 "type-not-supported",
                 argument.location,
                 "argument '" + argument.host.name +
                     "': Slang makes no SPIR-V of an array of structs that hold '" + argument.type.name + "'",
                 {"make the struct hold arrays of textures and samplers, or generate for CUDA alone"}}};
    }
    return {};
}

std::string bound_texture_type(const PlannedArgument& argument) {
    Texture texture = texture_of(argument.host);
    if (has_faces_as_layers(texture)) {
        texture.dimension = TextureDimension::two;
        texture.is_array = true;
    }
    const std::string element = has_fourth(argument.host) ? to_string(argument.host.element.scalar) + "4"
                                                          : declared_name(argument.type);
    return std::string(is_written_to(texture) ? "RW" : "") + texture_name(texture) + "<" + element + ">";
}

std::string texel_store(const ArgumentText& argument, const std::string& value) {
    const MadeUse use = made_use(argument);
    const std::string strides =
        record_text(argument.kernel.fields, RecordKind::strides, argument.index) + ".strides";
    const std::string scalar = to_string(argument.host.element.scalar);
    return bound_name(argument.host.name) + "[" + coordinates(argument.host, strides, use.indices) +
           "] = " + (has_fourth(argument.host) ? scalar + "4(" + value + ", " + scalar + "(1))" : value);
}

}  // namespace kf::gen

namespace kf::gen::kinds {

std::optional<MadeValue> made_value(const Texture& texture, const MadeUse& use) {
    const std::string name = bound_name(use.planned.host.name);
    if (!texture.per_pixel) return MadeValue{name, {}, {}};
    const std::string strides = record_text(use.fields, RecordKind::strides, use.index) + ".strides";
    const std::string texel = name + "[" + coordinates(use.planned.host, strides, use.indices) + "]";
    return MadeValue{has_fourth(use.planned.host) ? texel + ".xyz" : texel, {}, {}};
}

std::string cpp_passed_type(const Texture& texture, const PlannedArgument& item, const CppStructs&) {
    return std::string("kf::") + (is_written_to(texture) ? "RW" : "") + texture_name(texture) + "<" +
           cpp_type(slang_name(item.host.element)) + ">";
}

PythonTypes python_types(const Texture& texture, const PlannedArgument&, bool) {
    return texture.is_combined ? static_cast<PythonTypes>(python_texture | python_sampled) : python_texture;
}

std::string described(const Texture& texture, const PlannedArgument& item) {
    std::string text = texture.per_pixel        ? role_text(item.host.role)
                       : is_written_to(texture) ? "read and written"
                                                : "in";
    text += ", " + item.element_name + " " + texture_word(texture);
    if (texture.is_combined) text += " with a sampler";
    return text + (texture.format.empty() ? "" : ", " + texture.format);
}

}  // namespace kf::gen::kinds
