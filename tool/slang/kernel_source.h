// A kernel to compile: its text, and what it is linked with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// A type that may stand behind an interface at run time, and the number that means it there.
struct Conformance {
    std::string interface_name;
    std::string type;
    std::int64_t id = 0;

    bool operator==(const Conformance&) const = default;
};

/// What a module's global parameter is in kernels: see global_parameters.h.
struct GlobalForm {
    std::string id;
    bool is_property = false;  ///< whose getter calls a function of the kernel's; else it is a variable

    bool operator==(const GlobalForm&) const = default;
};

/// A specialization constant that SPIR-V keeps: who makes a pipeline sets it, by its number.
struct KeptConstant {
    std::string name;  ///< "ns.N"
    std::string file;  ///< that declares it, by its canonical path
    std::int64_t line = 0;
    std::uint32_t id = 0;  ///< from 0 on

    [[nodiscard]] std::string last_name() const { return name.substr(name.rfind('.') + 1); }
    bool operator==(const KeptConstant&) const = default;
};

/// How kernels name the function that sets a global, or, of a property, returns it.
[[nodiscard]] std::string setter_name(const std::string& id);
[[nodiscard]] std::string getter_name(const std::string& id);

/// The entry point is a compute shader with one uniform parameter: a struct, a ConstantBuffer of one
/// or a pointer to one. It keeps its name in the compiled code.
struct KernelSource {
    std::string entry_point;
    std::string text;       ///< a whole Slang module that imports the user's
    Location origin;        ///< the spec entry it was made for; errors in it point here
    std::string hint = {};  ///< a note for errors in it; may be empty
    /// Empty where it sets none of them; else all that kernels of the spec's modules may set.
    std::vector<GlobalForm> globals = {};
    bool for_header = false;   ///< its functions go into a device header, which has CUDA's own integers
    bool has_buffers = false;  ///< it declares some, whose elements are to lie as in C
    bool has_aliases = false;  ///< some of its buffers may be the same memory
    /// The variables that are written textures of three components, which lie in four.
    std::vector<std::string> padded_textures = {};
    std::string values = {};  ///< a module that gives link-time declarations their values; may be empty
    std::vector<KeptConstant> kept = {};         ///< those of the spec that are left to run time
    std::vector<Conformance> conformances = {};  ///< empty: those that the functions make objects of

    /// All of the above that the compiled code depends on.
    [[nodiscard]] std::string code_text() const;
};

}  // namespace kf::gen
