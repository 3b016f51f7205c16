// Maps Slang's type kinds and scalar types to ours.
#include "slang/types.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "slang/com_ptr.h"
#include "slang/tensors.h"

namespace kf::gen {

namespace {

std::optional<ScalarType> scalar_type(slang::TypeReflection::ScalarType type) {
    using Slang = slang::TypeReflection;
    switch (type) {
        case Slang::Bool: return ScalarType::boolean;
        case Slang::Int8: return ScalarType::int8;
        case Slang::Int16: return ScalarType::int16;
        case Slang::Int32: return ScalarType::int32;
        case Slang::Int64:
        case Slang::IntPtr: return ScalarType::int64;
        case Slang::UInt8: return ScalarType::uint8;
        case Slang::UInt16: return ScalarType::uint16;
        case Slang::UInt32: return ScalarType::uint32;
        case Slang::UInt64:
        case Slang::UIntPtr: return ScalarType::uint64;
        case Slang::Float16: return ScalarType::float16;
        case Slang::Float32: return ScalarType::float32;
        case Slang::Float64: return ScalarType::float64;
        default: return std::nullopt;
    }
}

// More than any matrix has: what Slang gives where linking decides it.
constexpr unsigned most_rows = 4;

// The outermost extent first, as declarations have it: "float[2][3]" is two arrays of three.
std::string array_name(const std::string& element, const std::string& bounds) {
    const std::size_t inner = element.find('[');
    return inner == std::string::npos || !element.ends_with(']')
               ? element + bounds
               : element.substr(0, inner) + bounds + element.substr(inner);
}

/// Splits "int, Box<2, 1>" at the commas that are outside of brackets.
std::vector<std::string> split_arguments(std::string_view list) {
    std::vector<std::string> all(1);
    int depth = 0;
    for (const char c : list) {
        depth += c == '<' || c == '(' || c == '[' ? 1 : c == '>' || c == ')' || c == ']' ? -1 : 0;
        if (c == ',' && depth == 0) {
            all.emplace_back();
        } else if (c != ' ' || !all.back().empty()) {
            all.back() += c;
        }
    }
    return all;
}

/// A type's name as Slang writes it; empty where it has none.
std::string plain_name(slang::TypeReflection& type) {
    ComPtr<ISlangBlob> blob;
    if (SLANG_FAILED(type.getFullName(blob.out())) || !blob) return {};
    const std::string name(static_cast<const char*>(blob->getBufferPointer()), blob->getBufferSize());
    return name.c_str();  // without a terminator that the blob may count
}

bool is_bool(slang::VariableReflection* parameter) {
    slang::TypeReflection* type = parameter != nullptr ? parameter->getType() : nullptr;
    return type != nullptr && type->getScalarType() == slang::TypeReflection::Bool &&
           type->getKind() == slang::TypeReflection::Kind::Scalar;
}

/// Slang writes `Box<1>` of a `Box<true>`, and reads that as another type.
std::string with_bools(slang::TypeReflection& type, const std::string& name) {
    slang::GenericReflection* generic = name.ends_with('>') ? type.getGenericContainer() : nullptr;
    if (generic == nullptr) return name;
    std::size_t open = name.size();
    for (int depth = 0; open > 0;) {
        const char c = name[--open];
        depth += c == '>' ? 1 : c == '<' ? -1 : 0;
        if (depth == 0) break;
    }
    std::string list;
    bool changed = false;
    unsigned types = 0;
    unsigned values = 0;
    for (std::string argument :
         split_arguments(std::string_view(name).substr(open + 1, name.size() - open - 2))) {
        const std::string given = argument;
        const bool is_number = argument.find_first_not_of("-0123456789") == std::string::npos;
        if (is_number && values < generic->getValueParameterCount()) {
            if (is_bool(generic->getValueParameter(values++))) argument = argument == "0" ? "false" : "true";
        } else if (types < generic->getTypeParameterCount()) {
            slang::TypeReflection* inner = generic->getConcreteType(generic->getTypeParameter(types++));
            // What has no bools stays as it is written, with words such as unorm.
            const std::string plain = inner != nullptr ? plain_name(*inner) : std::string();
            const std::string written = inner != nullptr ? with_bools(*inner, plain) : std::string();
            if (written != plain) argument = written;
        }
        changed = changed || argument != given;
        list += (list.empty() ? "" : ", ") + argument;
    }
    return changed ? name.substr(0, open + 1) + list + ">" : name;
}

/// Slang writes `Texture2D<vector<float,4>>` of a `Texture2D<float4>`.
std::string with_short_vectors(std::string name) {
    constexpr std::string_view opening = "vector<";
    for (std::size_t at = name.find(opening); at != std::string::npos; at = name.find(opening, at)) {
        const std::size_t comma = name.find(',', at);
        const std::size_t end = name.find('>', at);
        if (comma == std::string::npos || end != comma + 2) break;
        name = name.substr(0, at) + name.substr(at + opening.size(), comma - at - opening.size()) +
               name[comma + 1] + name.substr(end + 1);
    }
    return name;
}

/// The name that Slang's [format] has for it; empty where the source states none.
std::string format_name(SlangImageFormat format) {
    constexpr std::array names = {
#define SLANG_FORMAT(NAME, DESC) #NAME,
#include <slang-image-format-defs.h>
#undef SLANG_FORMAT
    };
    return format == SLANG_IMAGE_FORMAT_unknown || format >= names.size() ? "" : names.at(format);
}

}  // namespace

Type named_only(const std::string& name) {
    Type described;
    described.name = name;
    return described;
}

std::string full_name(slang::TypeReflection& type) { return with_bools(type, plain_name(type)); }

TypeDescriber::TypeDescriber(slang::ProgramLayout& program, slang::ProgramLayout* sizes)
    : program_(&program), sizes_(sizes), differentiable_(program.findTypeByName("IDifferentiable")) {}

bool TypeDescriber::is_differentiable(slang::TypeReflection& type) const {
    return differentiable_ != nullptr && program_->isSubType(&type, differentiable_);
}

Type TypeDescriber::describe(slang::TypeReflection* type) const { return describe(type, Found::alone); }

Type TypeDescriber::describe(slang::TypeReflection* type, Found found) const {
    if (type == nullptr) {
        return {};
    }
    try {
        return describe_whole(*type, found);
    } catch (...) {
        // "needed a known integer value": the extent is a generic parameter.
        return describe_pattern(*type);
    }
}

Type TypeDescriber::describe_named(const std::string& name) const {
    if (slang::TypeReflection* type = program_->findTypeByName(name.c_str())) {
        return describe(type);
    }
    return named_only(name);
}

Type TypeDescriber::describe_pattern(slang::TypeReflection& type) const {
    Type described;
    described.name = full_name(type);
    described.differentiable = is_differentiable(type);
    if (type.getKind() == slang::TypeReflection::Kind::Array && described.name.ends_with(']')) {
        // Here Slang writes the outermost extent last: "float[M][N]" is N arrays.
        const std::string bounds = described.name.substr(described.name.rfind('['));
        described.name = array_name(describe(type.getElementType()).name, bounds);
    }
    return described;
}

// Only of fields that are declared by brackets does the type keep the `no_diff`.
bool TypeDescriber::has_no_diff_array(slang::TypeReflection& type, const std::vector<Field>& fields) {
    for (unsigned index = 0; index < type.getFieldCount(); ++index) {
        slang::TypeReflection* field = type.getFieldByIndex(index)->getType();
        if (field != nullptr && field->getKind() == slang::TypeReflection::Kind::Array &&
            full_name(*field).starts_with("no_diff ")) {
            return true;
        }
        const Type* inner = &fields.at(index).type;
        while (inner->kind == TypeKind::array && !inner->element.empty()) {
            inner = &inner->element.front();
        }
        if (inner->no_diff_array) {
            return true;
        }
    }
    return false;
}

// Only in its layout does a struct have a field for what it inherits.
bool TypeDescriber::has_base(slang::TypeReflection& type) const {
    slang::TypeLayoutReflection* layout = program_->getTypeLayout(&type);
    if (layout == nullptr || layout->getFieldCount() == 0) {
        return false;
    }
    const char* first = layout->getFieldByIndex(0)->getName();
    return first != nullptr && std::string_view(first) == "$base";
}

// Tells by a buffer's or pointer's name: its own layout is the last one in it.
bool is_laid_out_as_c(const std::string& name) {
    const std::size_t end = name.rfind("DataLayout");
    const std::string_view start = std::string_view(name).substr(0, end == std::string::npos ? 0 : end);
    return start.ends_with(" Default") || start.ends_with(" Scalar");
}

// Those whose elements lie as C has them, and that append and consume nothing.
std::optional<Type> TypeDescriber::describe_buffer(slang::TypeReflection& type) const {
    const auto shape =
        static_cast<SlangResourceShape>(type.getResourceShape() & SLANG_RESOURCE_BASE_SHAPE_MASK);
    const SlangResourceAccess access = type.getResourceAccess();
    const bool bytes = shape == SLANG_BYTE_ADDRESS_BUFFER;
    const bool known = access == SLANG_RESOURCE_ACCESS_READ || access == SLANG_RESOURCE_ACCESS_READ_WRITE;
    if ((!bytes && shape != SLANG_STRUCTURED_BUFFER) || !known) return std::nullopt;
    Type described;
    described.kind = TypeKind::buffer;
    described.name = full_name(type);
    described.is_writable = access == SLANG_RESOURCE_ACCESS_READ_WRITE;
    if (bytes) return described;
    // What a format converts is no element in memory.
    const bool converts = described.name.find("<unorm ") != std::string::npos ||
                          described.name.find("<snorm ") != std::string::npos;
    if (!is_laid_out_as_c(described.name) || converts) return std::nullopt;
    described.element.push_back(describe(type.getElementType(), Found::in_struct));
    return described;
}

// Those that are read, or both read and written, by what a texel is made of.
std::optional<Type> TypeDescriber::describe_texture(slang::TypeReflection& type) const {
    const SlangResourceShape shape = type.getResourceShape();
    const auto base = static_cast<SlangResourceShape>(shape & SLANG_RESOURCE_BASE_SHAPE_MASK);
    const SlangResourceAccess access = type.getResourceAccess();
    const auto has = [&](SlangResourceShape flag) { return (shape & flag) != 0; };
    const bool known = access == SLANG_RESOURCE_ACCESS_READ || access == SLANG_RESOURCE_ACCESS_READ_WRITE;
    if (base < SLANG_TEXTURE_1D || base > SLANG_TEXTURE_CUBE || !known || has(SLANG_TEXTURE_FEEDBACK_FLAG))
        return std::nullopt;
    Type described;
    described.kind = TypeKind::texture;
    described.name = with_short_vectors(full_name(type));
    described.is_writable = access == SLANG_RESOURCE_ACCESS_READ_WRITE;
    described.element.push_back(describe(type.getResourceResultType(), Found::in_struct));
    TextureForm& form = described.texture;
    form.dimension = static_cast<TextureDimension>(base - SLANG_TEXTURE_1D);
    form.is_array = has(SLANG_TEXTURE_ARRAY_FLAG);
    form.is_multisampled = has(SLANG_TEXTURE_MULTISAMPLE_FLAG);
    form.is_combined = has(SLANG_TEXTURE_COMBINED_FLAG);
    form.is_comparison = has(SLANG_TEXTURE_SHADOW_FLAG);
    form.is_fraction = described.name.find("<unorm ") != std::string::npos ||
                       described.name.find("<snorm ") != std::string::npos;
    return described;
}

// Reflection has only the types of what they are made of: an optional's and a pair's as its arguments, a
// tuple's in its name.
void TypeDescriber::add_own_fields(slang::TypeReflection& type, Type& described) const {
    const std::size_t open = described.name.find('<');
    if (open == std::string::npos) return;
    const std::string_view own = std::string_view(described.name).substr(0, open);
    const std::vector<std::string> names =
        split_arguments(std::string_view(described.name).substr(open + 1, described.name.size() - open - 2));
    slang::GenericReflection* generic = type.getGenericContainer();
    slang::TypeReflection* only = generic != nullptr && generic->getTypeParameterCount() == 1
                                      ? generic->getConcreteType(generic->getTypeParameter(0))
                                      : nullptr;
    std::vector<Field> fields;
    const auto add = [&](const std::string& name, slang::TypeReflection* field) {
        if (field != nullptr) fields.push_back({name, describe(field, Found::in_struct)});
    };
    if (own == "Optional") {
        described.own = OwnStruct::optional;
        add("value", only);
        add("has_value", program_->findTypeByName("bool"));
    } else if (own == "DifferentialPair") {
        described.own = OwnStruct::pair;
        add("p", only);
        add("d", program_->findTypeByName((names.front() + ".Differential").c_str()));
    } else if (own == "Tuple") {
        described.own = OwnStruct::tuple;
        for (std::size_t i = 0; i < names.size(); ++i) {
            // A name has the extents of arrays of arrays the other way round.
            const bool is_known = names[i].find("][") == std::string::npos;
            add("_" + std::to_string(i), is_known ? program_->findTypeByName(names[i].c_str()) : nullptr);
        }
    }
    const std::size_t count = described.own == OwnStruct::tuple ? names.size() : 2;
    if (fields.size() == count) described.fields = std::move(fields);
}

// Only a field's place in a layout has what format it is.
void TypeDescriber::add_formats(slang::TypeReflection& type, std::vector<Field>& fields) const {
    const auto is_texture = [](const Field& field) {
        const Type* inner = &field.type;
        while (inner->kind == TypeKind::array && !inner->element.empty()) inner = &inner->element.front();
        return inner->kind == TypeKind::texture;
    };
    if (std::none_of(fields.begin(), fields.end(), is_texture)) return;
    slang::TypeLayoutReflection* layout = program_->getTypeLayout(&type);
    for (unsigned index = 0; layout != nullptr && index < layout->getFieldCount(); ++index) {
        slang::VariableLayoutReflection* placed = layout->getFieldByIndex(index);
        const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& one) {
            return placed->getName() != nullptr && one.name == placed->getName();
        });
        if (field == fields.end() || !is_texture(*field)) continue;
        Type* inner = &field->type;
        while (inner->kind == TypeKind::array) inner = &inner->element.front();
        inner->texture.format = format_name(placed->getImageFormat());
    }
}

// Reflection has what a pointer leads to in its layout alone, and what access it allows in its name alone.
Type TypeDescriber::describe_pointer(slang::TypeReflection& type, Found found) const {
    Type described;
    described.kind = TypeKind::pointer;
    described.name = full_name(type);
    const auto allows = [&](const char* access) {
        // The pointer's own comes after those of pointers that it leads to.
        return described.name.rfind(access) == described.name.rfind("Access.");
    };
    described.is_writable = !allows("Access.Read,") && !allows("Access.Immutable,");
    slang::TypeLayoutReflection* layout = program_->getTypeLayout(&type);
    slang::TypeLayoutReflection* pointee = layout != nullptr ? layout->getElementTypeLayout() : nullptr;
    if (pointee == nullptr || pointee->getType() == nullptr) return described;
    constexpr std::string_view atomic = "Atomic<";
    const std::string name = full_name(*pointee->getType());
    using Kind = slang::TypeReflection::Kind;
    const Kind kind = pointee->getType()->getKind();
    const bool is_number = kind == Kind::Scalar || kind == Kind::Vector || kind == Kind::Matrix;
    if (found == Found::in_struct && !is_number && !name.starts_with(atomic)) return described;
    if (!is_laid_out_as_c(described.name)) {
        described.kind = TypeKind::resource;
        return described;
    }
    Type element = name.starts_with(atomic)
                       ? describe_named(name.substr(atomic.size(), name.size() - atomic.size() - 1))
                       : describe(pointee->getType(), Found::in_struct);
    const bool is_known = element.kind != TypeKind::void_type && element.kind != TypeKind::other &&
                          element.kind != TypeKind::pointer;
    if (is_known) described.element.push_back(std::move(element));
    return described;
}

Type TypeDescriber::describe_whole(slang::TypeReflection& type, Found found) const {
    using Kind = slang::TypeReflection::Kind;
    Type described;
    described.differentiable = is_differentiable(type);
    const std::optional<ScalarType> scalar = scalar_type(type.getScalarType());
    described.scalar = scalar.value_or(ScalarType::float32);
    switch (type.getKind()) {
        case Kind::Scalar:
            described.name = full_name(type);
            described.kind = scalar ? TypeKind::scalar : TypeKind::other;
            if (type.getScalarType() == slang::TypeReflection::Void) {
                described.kind = TypeKind::void_type;
            }
            return described;
        case Kind::Vector:
            if (type.getElementCount() == SLANG_UNKNOWN_SIZE) {
                described.link_extent = full_name(type);
                break;
            }
            described.kind = scalar ? TypeKind::vector : TypeKind::other;
            described.columns = static_cast<std::int64_t>(type.getElementCount());
            described.name =
                scalar ? to_string(*scalar) + std::to_string(described.columns) : full_name(type);
            return described;
        case Kind::Matrix:
            if (type.getRowCount() > most_rows || type.getColumnCount() > most_rows) {
                described.link_extent = full_name(type);
                break;
            }
            described.kind = scalar ? TypeKind::matrix : TypeKind::other;
            described.rows = type.getRowCount();
            described.columns = type.getColumnCount();
            described.name = scalar ? to_string(*scalar) + std::to_string(described.rows) + "x" +
                                          std::to_string(described.columns)
                                    : full_name(type);
            return described;
        case Kind::Array: {
            std::size_t extent = type.getElementCount();
            described.kind = TypeKind::array;
            described.element.push_back(describe(type.getElementType(), found));
            const std::string spelled = full_name(type);
            if (extent == SLANG_UNKNOWN_SIZE && spelled.ends_with(']')) {
                const std::size_t begin = spelled.rfind('[') + 1;
                described.link_extent = spelled.substr(begin, spelled.size() - 1 - begin);
                if (sizes_ != nullptr)
                    extent = type.getElementCount(reinterpret_cast<SlangReflection*>(sizes_));
            }
            const bool sized = extent != SLANG_UNBOUNDED_SIZE && extent != SLANG_UNKNOWN_SIZE;
            described.extent = sized ? static_cast<std::int64_t>(extent) : 0;
            described.name =
                array_name(described.element.front().name, sized ? "[" + std::to_string(extent) + "]" : "[]");
            return described;
        }
        case Kind::Struct:
            described.kind = TypeKind::structure;
            described.name = full_name(type);
            if (const auto tensor = find_tensor(type)) {
                described.kind = TypeKind::tensor;
                described.form = tensor->form;
                described.extent = tensor->rank;
                described.addressing = tensor->addressing;
                described.element.push_back(describe(tensor->element));
                return described;
            }
            for (unsigned index = 0; index < type.getFieldCount(); ++index) {
                slang::VariableReflection& field = *type.getFieldByIndex(index);
                Field& added = described.fields.emplace_back();
                added.name = field.getName() != nullptr ? field.getName() : "";
                added.type = describe(field.getType(), Found::in_struct);
                added.no_diff = field.findModifier(slang::Modifier::NoDiff) != nullptr;
                // Slang counts the none that each optional begins as.
                added.has_default = field.hasDefaultValue() && added.type.own != OwnStruct::optional;
            }
            if (described.fields.empty()) add_own_fields(type, described);
            add_formats(type, described.fields);
            described.no_diff_array = has_no_diff_array(type, described.fields);
            described.inherits = !described.no_diff_array && has_base(type);
            return described;
        case Kind::Enum: {
            slang::TypeReflection* kept = type.getElementType();
            const std::optional<ScalarType> integer =
                kept != nullptr ? scalar_type(kept->getScalarType()) : std::nullopt;
            described.kind = integer ? TypeKind::scalar : TypeKind::other;
            described.scalar = integer.value_or(ScalarType::float32);
            described.is_enum = integer.has_value();
            // Reflection lists an enum's members as a struct's fields.
            for (unsigned index = 0; index < type.getFieldCount(); ++index) {
                slang::VariableReflection& member = *type.getFieldByIndex(index);
                std::int64_t value = 0;
                if (member.getName() == nullptr || SLANG_FAILED(member.getDefaultValueInt(&value))) continue;
                described.members.emplace_back(member.getName(), value);
            }
            break;
        }
        case Kind::Pointer: return describe_pointer(type, found);
        case Kind::Interface: described.kind = TypeKind::interface; break;
        case Kind::Resource:
            if (std::optional<Type> buffer = describe_buffer(type)) return *buffer;
            if (std::optional<Type> texture = describe_texture(type)) return *texture;
            described.kind = TypeKind::resource;
            break;
        case Kind::SamplerState:
            described.kind = TypeKind::sampler;
            described.name = full_name(type);
            described.texture.is_comparison = described.name == "SamplerComparisonState";
            return described;
        case Kind::ConstantBuffer:
        case Kind::TextureBuffer:
        case Kind::ShaderStorageBuffer:
        case Kind::ParameterBlock:
        case Kind::DynamicResource: described.kind = TypeKind::resource; break;
        default: described.kind = TypeKind::other; break;
    }
    described.name = full_name(type);
    return described;
}

std::optional<Type> find_type(const std::vector<slang::IModule*>& modules, const std::string& name,
                              slang::ProgramLayout* sizes) {
    for (slang::IModule* module : modules) {
        slang::ProgramLayout* program = module->getLayout();
        if (slang::TypeReflection* type =
                program != nullptr ? program->findTypeByName(name.c_str()) : nullptr) {
            return TypeDescriber(*program, sizes).describe(type);
        }
    }
    return std::nullopt;
}

bool conform(const std::vector<slang::IModule*>& modules, const std::string& type,
             const std::string& interface_name) {
    for (slang::IModule* module : modules) {
        slang::ProgramLayout* program = module->getLayout();
        if (program == nullptr) {
            continue;
        }
        slang::TypeReflection* sub = program->findTypeByName(type.c_str());
        slang::TypeReflection* super = program->findTypeByName(interface_name.c_str());
        if (sub != nullptr && super != nullptr && program->isSubType(sub, super)) {
            return true;
        }
    }
    return false;
}

}  // namespace kf::gen
