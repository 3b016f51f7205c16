// Reads what textures are to be, and compares arrays with them.
#include "python/texture_shape.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/describe.h"
#include "python/errors.h"
#include "python/host.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

struct TextureKind {
    std::string_view word;
    int dimensions;
    bool is_cube;
    bool is_array;
};

constexpr std::array texture_kinds{
    TextureKind{"1d", 1, false, false},       TextureKind{"2d", 2, false, false},
    TextureKind{"3d", 3, false, false},       TextureKind{"cube", 2, true, false},
    TextureKind{"1d_array", 1, false, true},  TextureKind{"2d_array", 2, false, true},
    TextureKind{"cube_array", 2, true, true},
};

constexpr std::int64_t faces = 6;

std::optional<std::string> string_of(py::handle value) {
    if (PyUnicode_Check(value.ptr()) == 0) return std::nullopt;
    return std::string(utf8_of(value));
}

TextureFormat parse_format(py::handle format, const Where& where) {
    const auto text = string_of(format);
    const auto found = text ? texture_format_named(*text) : std::nullopt;
    if (found) return *found;
    std::string known;
    for (const TextureFormatInfo& one : texture_formats)
        known += (known.empty() ? "" : ", ") + std::string(one.name);
    refuse(text ? ErrorCode::value_range : ErrorCode::type_mismatch, where,
           shown(format) + " is no format; there are " + known);
}

/// Null for None.
const TextureKind* parse_kind(py::handle kind, const Where& where) {
    if (kind.is_none()) return nullptr;
    const auto text = string_of(kind);
    const auto* const found = std::ranges::find(texture_kinds, text.value_or(""), &TextureKind::word);
    if (found != texture_kinds.end()) return found;
    std::string known;
    for (const TextureKind& one : texture_kinds)
        known += (known.empty() ? "'" : ", '") + std::string(one.word) + "'";
    refuse(text ? ErrorCode::value_range : ErrorCode::type_mismatch, where,
           shown(kind) + " is no kind of texture; there are " + known);
}

std::int64_t parse_count(py::handle count, const Where& where, std::int64_t least) {
    if (!is_integer(count)) {
        refuse(ErrorCode::type_mismatch, where, "an int is needed, not " + shown(count));
    }
    return integer_of(count, where, least, (std::int64_t{1} << 31) - 1,
                      least == 0 ? "from 0 to 2^31 - 1" : "from 1 to 2^31 - 1");
}

/// All but extents and kind.
TextureShape parse_rest(const char* owner, const TextureArguments& arguments) {
    TextureShape shape;
    shape.format = parse_format(arguments.format, {owner, "format"});
    if (!arguments.mips.is_none()) shape.mips = parse_count(arguments.mips, {owner, "mips"}, 0);
    shape.writable = arguments.writable;
    return shape;
}

void set_kind(TextureShape& shape, const TextureKind& kind) {
    shape.dimensions = kind.dimensions;
    shape.is_cube = kind.is_cube;
    shape.is_array = kind.is_array;
    shape.layers = kind.is_cube ? faces : 1;
}

/// "[layers, h, w, 4]".
std::string texels_text(const TextureShape& shape) {
    std::string text;
    if (shape.is_cube) {
        text = shape.is_array ? "6 * cubes, " : "6, ";
    } else if (shape.is_array) {
        text = "layers, ";
    }
    constexpr std::array names{"d", "h", "w"};
    for (int k = 3 - shape.dimensions; k < 3; ++k)
        text += std::string(names.at(static_cast<std::size_t>(k))) + ", ";
    const std::uint32_t components = info_of(shape.format).components;
    if (components > 1) return "[" + text + std::to_string(components) + "]";
    return "[" + text.substr(0, text.size() - 2) + "]";
}

std::string format_and_kind(const TextureShape& shape) {
    return std::string(info_of(shape.format).name) + " texture of kind '" + kind_word(shape) + "'";
}

/// How a picture without alpha gets one; empty of what is no such picture.
std::string alpha_cure(const TextureShape& shape, const Dims& array) {
    const TextureFormatInfo& info = info_of(shape.format);
    const std::size_t dimensions =
        static_cast<std::size_t>(shape.dimensions) + (shape.is_cube || shape.is_array ? 1 : 0) + 1;
    if (info.components != 4 || array.size() != dimensions || array[dimensions - 1] != 3) return {};
    const bool is_fraction = info.texel == TexelClass::unorm || info.texel == TexelClass::srgb;
    const char* const opaque = !is_fraction ? "1" : info.scalar == ScalarType::uint8 ? "255" : "65535";
    return std::string("; np.insert(a, 3, ") + opaque + ", axis=-1) adds an alpha";
}

[[noreturn]] void refuse_extents(const TextureShape& shape, const Dims& array, const Where& where) {
    refuse(ErrorCode::shape_mismatch, where,
           "the array's shape is " + to_string(array) + "; the texels of " +
               detail::with_article(format_and_kind(shape)) + " have the shape " + texels_text(shape) +
               (info_of(shape.format).components == 1 ? ", or that with a last extent of 1" : "") +
               alpha_cure(shape, array));
}

bool has_layer_axis(const TextureShape& shape) { return shape.is_array || shape.is_cube; }

/// How many dimensions an array of the texels has.
std::size_t texel_rank(const TextureShape& shape) {
    return static_cast<std::size_t>(shape.dimensions) + (has_layer_axis(shape) ? 1 : 0) +
           (info_of(shape.format).components > 1 ? 1 : 0);
}

/// Returns the extents without the channels'; nothing where these or the number of dimensions don't fit.
std::optional<Dims> without_channels(const TextureShape& shape, Dims array) {
    const std::int64_t components = info_of(shape.format).components;
    const std::size_t rank = texel_rank(shape);
    if (components == 1 && array.size() == rank) return array;
    if (array.size() != (components == 1 ? rank + 1 : rank) || array[array.size() - 1] != components)
        return std::nullopt;
    array.erase(array.size() - 1);
    return array;
}

/// The kind of a texture whose texels have so many dimensions.
const TextureKind& kind_of_texels(const TextureShape& shape, const Dims& array, const Where& where) {
    const std::int64_t components = info_of(shape.format).components;
    std::size_t dimensions = array.size();
    if (components > 1 || dimensions == 4) --dimensions;
    const bool is_ambiguous = components == 1 && array.size() == 3 && array[2] == 1;
    if (is_ambiguous) {
        refuse(ErrorCode::shape_mismatch, where,
               "an array of shape " + to_string(array) +
                   " could be a 2D texture with its channel, or a 3D one: say kind='2d' or kind='3d'");
    }
    if (dimensions < 1 || dimensions > 3) {
        refuse(ErrorCode::rank_mismatch, where,
               "the array's shape is " + to_string(array) + "; the texels of a texture of " +
                   std::string(info_of(shape.format).name) + " have the shape [w" +
                   (components > 1 ? ", " + std::to_string(components) + "]" : "]") + " to [d, h, w" +
                   (components > 1 ? ", " + std::to_string(components) + "]" : "]") +
                   ", and one dimension more where kind= says that there are layers");
    }
    return texture_kinds.at(dimensions - 1);
}

std::string rounding(const TextureFormatInfo& format) {
    switch (format.scalar) {
        case ScalarType::uint8: return "np.rint(a * 255).astype(np.uint8)";
        case ScalarType::uint16: return "np.rint(a * 65535).astype(np.uint16)";
        case ScalarType::int8: return "np.rint(a * 127).astype(np.int8)";
        default: return "np.rint(a * 32767).astype(np.int16)";
    }
}

}  // namespace

std::string kind_word(const TextureShape& shape) {
    const auto* const found = std::ranges::find_if(texture_kinds, [&](const TextureKind& kind) {
        return kind.dimensions == shape.dimensions && kind.is_cube == shape.is_cube &&
               kind.is_array == shape.is_array;
    });
    return std::string(found->word);
}

TextureShape shape_of_texture(const char* owner, py::handle extents, const TextureArguments& arguments) {
    TextureShape shape = parse_rest(owner, arguments);
    const Where where{owner, "shape"};
    shape.extents = parse_shape(extents, where);
    const TextureKind* kind = parse_kind(arguments.kind, {owner, "kind"});
    const bool has_layers = !arguments.layers.is_none();
    if (shape.extents.empty() || shape.extents.size() > 3) {
        refuse(ErrorCode::rank_mismatch, where,
               "a texture has 1 to 3 dimensions, not " + std::to_string(shape.extents.size()) +
                   ": its shape counts neither layers nor channels");
    }
    if (kind == nullptr) {
        kind = &texture_kinds.at(shape.extents.size() - 1);
        if (has_layers) {
            kind = std::ranges::find_if(texture_kinds, [&](const TextureKind& one) {
                return one.is_array && !one.is_cube &&
                       one.dimensions == static_cast<int>(shape.extents.size());
            });
        }
        if (kind == texture_kinds.end()) {
            refuse(ErrorCode::rank_mismatch, {owner, "layers"}, "a 3D texture has no layers");
        }
    }
    set_kind(shape, *kind);
    if (shape.extents.size() != static_cast<std::size_t>(shape.dimensions)) {
        refuse(ErrorCode::rank_mismatch, where,
               to_string(shape.extents) + " has " + std::to_string(shape.extents.size()) +
                   " dimensions, a texture of kind '" + kind_word(shape) + "' has " +
                   std::to_string(shape.dimensions) + "; layers and channels aren't counted");
    }
    if (!has_layers) return shape;
    const Where layers{owner, "layers"};
    shape.layers = parse_count(arguments.layers, layers, 1);
    if (!shape.is_array && shape.layers != (shape.is_cube ? faces : 1)) {
        refuse(ErrorCode::value_range, layers,
               "a texture of kind '" + kind_word(shape) + "' has " +
                   (shape.is_cube ? "its 6 faces" : "no layers") + ": say kind='" + kind_word(shape) +
                   "_array'");
    }
    return shape;
}

TextureShape shape_of_texels(const char* owner, const Dims& array, const TextureArguments& arguments) {
    TextureShape shape = parse_rest(owner, arguments);
    const Where where{owner, "a"};
    const TextureKind* const kind = parse_kind(arguments.kind, {owner, "kind"});
    set_kind(shape, kind != nullptr ? *kind : kind_of_texels(shape, array, where));
    const std::optional<Dims> texels = without_channels(shape, array);
    if (!texels) refuse_extents(shape, array, where);
    std::size_t k = 0;
    if (has_layer_axis(shape)) {
        if (shape.is_cube && !shape.is_array && (*texels)[0] != faces) refuse_extents(shape, array, where);
        shape.layers = (*texels)[k++];
    }
    for (; k < texels->size(); ++k) shape.extents.push_back((*texels)[k]);
    return shape;
}

Dims texel_extents(const TextureShape& shape) {
    Dims extents;
    if (has_layer_axis(shape)) extents.push_back(shape.layers);
    for (const std::int64_t extent : shape.extents) extents.push_back(extent);
    const std::int64_t components = info_of(shape.format).components;
    if (components > 1) extents.push_back(components);
    return extents;
}

Dims box_of(const TextureShape& shape, const Dims& array, const Where& where) {
    const std::optional<Dims> texels = without_channels(shape, array);
    if (!texels) refuse_extents(shape, array, where);
    Dims box;
    std::size_t k = 0;
    if (has_layer_axis(shape) && (*texels)[k++] != shape.layers) {
        refuse(ErrorCode::shape_mismatch, where,
               "the array's shape is " + to_string(array) + ", and the texture has " +
                   std::to_string(shape.layers) + " layers: layer() and layer_range() are views of some");
    }
    for (; k < texels->size(); ++k) box.push_back((*texels)[k]);
    return box;
}

void check_texel_type(const TextureShape& shape, const py::array& array, const Where& where) {
    const TextureFormatInfo& format = info_of(shape.format);
    const ScalarType given = scalar_of(array, where);
    if (given == format.scalar) return;
    const std::string name = numpy_name(format.scalar);
    const bool is_fraction = format.texel == TexelClass::unorm || format.texel == TexelClass::snorm ||
                             format.texel == TexelClass::srgb;
    const bool is_float =
        given == ScalarType::float16 || given == ScalarType::float32 || given == ScalarType::float64;
    refuse(ErrorCode::type_mismatch, where,
           "the array's dtype is " + std::string(numpy_name(given)) + ", and texels of " +
               std::string(format.name) + " are " + name + ": give " +
               (is_fraction && is_float ? rounding(format) : "a.astype(np." + name + ")"));
}

}  // namespace kf::python
