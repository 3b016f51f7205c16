// The words for what is given, and for what an argument can't be.
#include "core/resolve_text.h"

#include "core/describe.h"
#include "core/generator_rules.h"
#include "core/kinds/texture_binding.h"

namespace kf::detail {

using manifest::Argument;

namespace {

/// NumPy's name of a type: "float64".
std::string dtype_name(ScalarType scalar) { return manifest::scalar_words[static_cast<std::size_t>(scalar)]; }

/// "(2, 3)", "(3,)": a shape as NumPy and PyTorch show it, "(?, 3)" where extents aren't known.
std::string tuple_text(const Dims& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += i == 0 ? "" : ", ";
        text += shape[i] == unknown_extent ? "?" : std::to_string(shape[i]);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

/// "a float64 array of shape (3,)".
std::string elements_text(const ArgShape& given, const char* of) {
    return with_article(dtype_name(given.scalar)) + " " + of + " of shape " + tuple_text(given.shape);
}

}  // namespace

std::string found_text(const ArgShape& given) {
    if (given.is_torch) return elements_text(given, "torch.Tensor");
    switch (given.kind) {
        case ArgShape::Kind::absent: return "nothing";
        case ArgShape::Kind::weak: {
            const std::string number = given.scalar == ScalarType::boolean ? "bool"
                                       : is_floating(given.scalar)         ? "floating number"
                                                                           : "whole number";
            if (given.shape.empty()) return "a " + number;
            if (given.components && given.shape.size() == 1) return "x, y, z, w of " + number + "s";
            return "a list of shape " + tuple_text(given.shape) + " of " + number + "s";
        }
        case ArgShape::Kind::array: return elements_text(given, "array");
        case ArgShape::Kind::tensor: return elements_text(given, "tensor");
        case ArgShape::Kind::generator:
            return with_article(
                generator_text(given.generator, static_cast<std::int64_t>(given.shape.size())));
        case ArgShape::Kind::texture:
            return given.texture == nullptr || !*given.texture
                       ? "a texture"
                       : with_article(to_string(given.texture->shape()));
        case ArgShape::Kind::sampler: {
            const bool compares =
                given.sampler != nullptr && *given.sampler && given.sampler->is_comparison();
            return compares ? "a comparison sampler" : "a sampler";
        }
    }
    return {};
}

namespace {

std::size_t dims_of(const Argument& argument) {
    return static_cast<std::size_t>(argument.rank) + argument.element.extents.size();
}

/// What an argument should be. Ranks of vectors' tensors don't count the vectors: then the shape says more.
std::string expected_text(const Argument& argument, const ArgShape& given) {
    std::string text = describe(argument);
    const auto rank = static_cast<std::size_t>(argument.rank);
    const std::size_t dims = dims_of(argument);
    if (!passes_tensor(argument) || argument.element.extents.empty() ||
        given.kind == ArgShape::Kind::absent || given.shape.size() == dims)
        return text;
    for (std::size_t i = 0; i < dims; ++i) {
        text += (i == 0 ? " (shape (" : ", ") +
                (i < rank ? "d" + std::to_string(i) : std::to_string(argument.element.extents[i - rank]));
    }
    return text + (dims == 1 ? ",))" : "))");
}

/// PyTorch's name of an element type.
const char* torch_name(ScalarType scalar) {
    switch (scalar) {
        case ScalarType::boolean: return "Bool";
        case ScalarType::int8: return "Char";
        case ScalarType::int16: return "Short";
        case ScalarType::int32: return "Int";
        case ScalarType::int64: return "Long";
        case ScalarType::uint8: return "Byte";
        case ScalarType::uint16: return "UInt16";
        case ScalarType::uint32: return "UInt32";
        case ScalarType::uint64: return "UInt64";
        case ScalarType::float16: return "Half";
        case ScalarType::float32: return "Float";
        case ScalarType::float64: return "Double";
    }
    return "";
}

/// What converts it, where nothing but the type is wrong.
std::string conversion_hint(const Argument& argument, const ArgShape& given) {
    const std::size_t dims = dims_of(argument);
    const ScalarType wanted = argument.element.scalar;
    if (!passes_elements(argument) || given.shape.size() != dims || given.scalar == wanted) return {};
    if (given.is_torch) {
        return std::string("; expected scalar type ") + torch_name(wanted) + " but found " +
               torch_name(given.scalar) + "; to(torch." + dtype_name(wanted) + ") converts it";
    }
    if (given.kind == ArgShape::Kind::tensor && wanted == ScalarType::float32 && !is_floating(given.scalar))
        return "; made of floats it is one, kf.Tensor([1., …]), or with dtype=np.float32";
    if (given.kind == ArgShape::Kind::array) return "; " + astype_text(wanted) + " converts it";
    if (given.kind != ArgShape::Kind::weak || given.scalar != ScalarType::boolean || dims != 0) return {};
    return is_floating(wanted) ? "; float() converts it" : "; int() converts it";
}

}  // namespace

std::string astype_text(ScalarType scalar) {
    // NumPy has had no np.bool for some versions.
    return "astype(np." + (scalar == ScalarType::boolean ? "bool_" : dtype_name(scalar)) + ")";
}

Refusal mismatch(const Argument& argument, const ArgShape& given) {
    ErrorCode code = ErrorCode::type_mismatch;
    if (given.kind == ArgShape::Kind::absent) {
        code = ErrorCode::missing_argument;
    } else if (passes_elements(argument) && given.kind != ArgShape::Kind::generator &&
               given.shape.size() != dims_of(argument)) {
        code = ErrorCode::rank_mismatch;
    }
    const std::string why = texture_misfit(argument, given);
    return {code, "expected " + expected_text(argument, given) + ", found " + found_text(given) +
                      (why.empty() ? conversion_hint(argument, given) : why)};
}

std::string shown(const Given& given) { return given.text() + " (" + given.type_text() + ")"; }

}  // namespace kf::detail
