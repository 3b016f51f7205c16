// The generated C++: NAME.h with typed overloads, NAME.cpp that packs their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"

namespace kf::gen {

/// Where the library has NAME.kfa.
enum class ArtifactPlace : std::uint8_t {
    file,        ///< NAME.kfa itself, looked for at run time
    text,        ///< in NAME.cpp, as numbers
    assembler,   ///< NAME.cpp has the assembler read NAME.kfa
    object,      ///< another object file, as artifact_symbol()
    coff_object  ///< the same for Windows, where symbols are hidden as they are
};

struct CppOptions {
    ArtifactPlace place = ArtifactPlace::file;
    std::span<const std::byte> artifact;  ///< NAME.kfa's bytes; needed where `place` is text
    /// Hex SHA-256 of NAME.kfa. Not empty: a file with another one is refused when loaded.
    std::string sha256;
    std::vector<std::string> backends;  ///< that it has kernels for: "cuda", "vulkan"
};

struct CppFiles {
    std::string header;
    std::string source;
};

/// The linker's name for an artifact: the module's, and enough of its SHA-256 that no two artifacts share it.
std::string artifact_symbol(const std::string& module, const std::string& sha256);

/// How a planned call looks in C++:
/// - Arguments stand in parameter order: values as T, tensors as const kf::Tensor<T, N>&, out tensors as
///   kf::Out (made by kf::out(y)), inout tensors as const kf::Tensor<T, N>& (a handle: elements are written
///   in place), out and inout values as T&.
/// - A result is returned; a tensor's may instead be given as a trailing kf::out(y).
/// - backward takes the same arguments in the same order, then the result: of outputs, whose gradients flow
/// in,
///   those that are differentiable. Differentiable values are kf::DiffArg<T>: a plain T, or a kf::Diff<T>
///   that has a gradient, of outputs kf::OutputArg<T>, which takes a temporary kf::Diff, too.
/// - append_to is left out where host values would have to be read back.
///
/// Errors: "duplicate-signature" (two overloads with one host signature), "reserved-namespace" (one that
/// hides the runtime's or a C library function's name), "type-not-supported" (no host type for an element).
Outcome<CppFiles> emit_cpp(const Plan& plan, const CppOptions& options);

}  // namespace kf::gen
