// A Slang type as a plain value.
#pragma once

#include <kf/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kinds/texture.h"
#include "core/parameter_tree.h"

namespace kf::gen {

using manifest::OwnStruct;
using manifest::kinds::TextureDimension;

enum class TypeKind : std::uint8_t {
    void_type,
    scalar,
    vector,
    matrix,
    array,
    structure,
    interface,
    resource,
    tensor,   ///< of kf.slang's family
    buffer,   ///< StructuredBuffer<T>, ByteAddressBuffer, and those that are written
    pointer,  ///< to memory: T*, Ptr<T, …>
    texture,  ///< Texture2D<T>, RWTexture2D<T>, Sampler2D<T> and their kin
    sampler,  ///< SamplerState, SamplerComparisonState
    other
};

/// What a function may do with a parameter that is a tensor of kf.slang's.
enum class TensorForm : std::uint8_t {
    read,             ///< Tensor
    write,            ///< WTensor
    read_write,       ///< RWTensor
    atomic,           ///< AtomicTensor
    diff_read,        ///< DiffTensor
    diff_write,       ///< WDiffTensor
    diff_read_write,  ///< RWDiffTensor
    diff_output,      ///< GradInTensor: diff_write, and calls may read it without gradients
    view,             ///< TensorView, of any rank
    diff_view,        ///< DiffTensorView, likewise: one gradient is both read and added to
    diff_texture,     ///< DiffTexture2D: diff_read of rank 2, sampled
};
inline constexpr int tensor_form_count = 11;

/// "Tensor", "WDiffTensor" …: the struct in the Slang library.
std::string_view form_name(TensorForm form);

/// The form whose struct has that name.
std::optional<TensorForm> form_named(std::string_view name);

/// Whether the type says nothing of the rank, which the kind has then.
constexpr bool is_view(TensorForm form) { return form == TensorForm::view || form == TensorForm::diff_view; }

/// What a texture's type says beside its element.
struct TextureForm {
    TextureDimension dimension = TextureDimension::two;
    bool is_array = false;
    bool is_multisampled = false;
    bool is_combined = false;    ///< with a sampler of its own
    bool is_comparison = false;  ///< of samplers too: what is sampled is compared
    bool is_fraction = false;    ///< its elements are unorm or snorm
    std::string format = {};     ///< that the source states of the variable; empty: none

    bool operator==(const TextureForm&) const = default;
};

struct Field;

/// The user's own C++ struct that stands for a Slang struct, and where it has the fields. Kernels find them
/// there.
struct HostStruct {
    /// What stands for one of the Slang struct's fields.
    struct Place {
        std::string member;                 ///< as C++ names it: "origin", "camera.origin"
        std::int64_t member_offset = 0;     ///< bytes
        std::int64_t offset = 0;            ///< of its first scalar, or struct: bytes
        std::vector<std::int64_t> spacing;  ///< scalars between its elements, as they lie; empty: packed
    };

    std::string type;                    ///< "app::Ray"
    std::string header;                  ///< as an #include names it
    std::int64_t size = 0;               ///< bytes
    std::int64_t alignment = 1;          ///< bytes
    std::vector<Place> fields;           ///< in the order of the Slang struct's
    bool is_laid_out_as_slangs = false;  ///< natural C layout, without gaps in what it holds
    std::string unwritten = {};          ///< a member that Slang lacks, "'id' (ray.h:7:9)"; empty: none
    bool is_copied_by_bytes = true;      ///< trivially copyable; otherwise as good as that
};

/// A Slang type. `name` is how Slang source spells it ("float3", "Ray", "float[4]").
struct Type {
    TypeKind kind = TypeKind::other;
    ScalarType scalar = ScalarType::float32;  ///< of scalars, vectors and matrices
    std::int64_t rows = 1;                    ///< of matrices (row-major)
    std::int64_t columns = 1;                 ///< of vectors (its length) and matrices
    std::int64_t extent = 0;                  ///< of arrays; 0 when unsized. Of tensors: the rank, of views 0
    /// Exactly one of arrays, tensors and textures, and of buffers but those of bytes; of a pointer what it
    /// leads to, unless that is void or another pointer, or a struct and the pointer is a field.
    std::vector<Type> element;
    std::vector<Field> fields;  ///< of structs, in order
    std::string name;
    bool differentiable = false;         ///< conforms to IDifferentiable
    TensorForm form = TensorForm::read;  ///< of tensors
    bool inherits = false;               ///< of structs: fields of another one, which `fields` lacks
    bool no_diff_array = false;  ///< of structs: `no_diff float x[2];` in it, which Slang can't lay out
    bool is_writable = false;    ///< of pointers, buffers and textures: functions may write there
    /// Where linking decides its size: of arrays their extent as declared, "N"; else the type's name.
    std::string link_extent = {};
    bool is_enum = false;  ///< of scalars: `name` is an enum's, and `scalar` what it is kept in
    /// An enum's members in order, with their values.
    std::vector<std::pair<std::string, std::int64_t>> members = {};
    /// The arguments behind the element of a tensor that is sampled: "TextureAddress.repeat, …".
    std::string addressing = {};
    TextureForm texture = {};         ///< of textures and samplers
    OwnStruct own = OwnStruct::none;  ///< of structs
    /// What stands for a struct on the host; null: what kfgen generates. It follows from the name.
    std::shared_ptr<const HostStruct> host = nullptr;

    bool operator==(const Type&) const;
};

struct Field {
    std::string name;
    Type type;
    bool no_diff = false;
    bool has_default = false;  ///< a value of its own, "= 0.9f"

    bool operator==(const Field&) const = default;
};

}  // namespace kf::gen
