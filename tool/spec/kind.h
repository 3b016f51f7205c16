// How a spec passes one argument: its kind and the options that ride on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/argument.h"
#include "diagnostic/diagnostic.h"

namespace kf::gen {

using detail::GeneratorKind;
using manifest::kinds::TextureDimension;

/// The highest rank of tensors and calls: what the runtime's shapes hold.
inline constexpr std::int64_t max_rank = 8;

enum class Kind : std::uint8_t {
    value,
    tensor,
    buffer,
    rwbuffer,
    byteaddress,
    rwbyteaddress,
    texture,
    sampler,
    pointer,
    acceleration_structure,
    generator,
    constant,
    fields,
    automatic  ///< of what is written: the call's rank decides
};

struct TextureShape {
    TextureDimension dimension = TextureDimension::two;
    bool writable = false;
    bool array = false;

    bool operator==(const TextureShape&) const = default;
};

/// How the values that meet in one element of an output, or of a gradient, are combined. `overwrite`: what
/// was in the gradient before doesn't count.
struct AccumulateWay {
    manifest::Accumulate combine = manifest::Accumulate::sum;
    bool overwrite = false;

    bool operator==(const AccumulateWay&) const = default;
};

/// One number, truth value or name of an enum's member, as JSON spells it.
struct ConstantScalar {
    enum class Literal : std::uint8_t { boolean, integer, number, name };
    Literal literal = Literal::integer;
    std::string text;
    Location location;

    bool operator==(const ConstantScalar&) const = default;
};

/// The value that a spec states: a scalar, or lists of lists of them.
struct ConstantValue {
    std::vector<std::int64_t> extents;  ///< of the lists, the outermost first
    std::vector<ConstantScalar> scalars;

    bool operator==(const ConstantValue&) const = default;
};

struct FieldSpec;

/// One kind with its options. Plain value; `spelling` is what the user wrote, normalised.
struct KindSpec {
    Kind kind = Kind::value;
    std::string spelling;  ///< "tensor<float3>[2]"; "{fields}" for the fields form
    std::string element;   ///< the type inside <> or of "as", as Slang spells it; empty: rule 1
    int rank = 0;          ///< of tensor[r] and grid[n]
    GeneratorKind generator = GeneratorKind::none;  ///< when kind is generator
    TextureShape texture;                           ///< when kind is texture
    std::optional<std::vector<int>> map;     ///< dimension i of the argument is dimension map[i] of the call
    std::optional<manifest::Gradient> grad;  ///< unset: the call decides
    bool contiguous_only = false;            ///< "layout": "contiguous"; else a strided variant is built, too
    std::vector<AccumulateWay> accumulate;   ///< what may be picked at run time; the first is the default
    std::string format;                      ///< of textures: a name of Slang's [format]
    std::optional<ConstantValue> value;      ///< when kind is constant
    std::vector<FieldSpec> fields;           ///< when kind is fields, in the order written
    Location location;

    bool operator==(const KindSpec&) const;
};

/// One field of a `fields` kind: each has alternatives of its own.
struct FieldSpec {
    std::string name;
    std::vector<KindSpec> alternatives;
    Location location;

    bool operator==(const FieldSpec&) const;
};

/// Which options make sense for a kind.
struct KindOptions {
    bool map = false;
    bool element = false;
    bool grad = false;
    bool layout = false;
    bool format = false;
    bool accumulate = false;
    bool value = false;
};
[[nodiscard]] KindOptions options_of(const KindSpec& kind);

/// Whether this version of kfgen generates anything for it.
[[nodiscard]] bool is_supported(const KindSpec& kind);
/// The spellings of those that are, for messages.
[[nodiscard]] std::vector<std::string> supported_spellings();

/// Parses "tensor<float3>[2]", "value", "rwtexture2d_array" … `location` is that of the text's first
/// character; errors ("spec-kind") point at the character that is wrong.
Outcome<KindSpec> parse_kind(std::string_view text, const Location& location);

/// Returns the kinds that parse_kind accepts, for messages and suggestions: "value", "tensor[rank]", …
std::vector<std::string> kind_spellings();

}  // namespace kf::gen
