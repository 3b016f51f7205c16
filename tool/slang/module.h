// What kfgen knows of Slang modules: types and functions as plain values.
#pragma once

#include <kf/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "slang/type.h"

namespace kf::gen {

enum class Direction : std::uint8_t { in, out, inout };

struct Parameter {
    std::string name;
    Type type;
    Direction direction = Direction::in;
    bool no_diff = false;
    bool no_diff_written = false;  ///< by the source: Slang marks by itself what has no derivative
    bool has_default = false;      ///< a value that stands for it where a call leaves it out
    bool only_read = false;        ///< views in it are, as far as is known: see read_views.h

    bool operator==(const Parameter&) const = default;
};

/// A parameter that a GPU gives a value to: `uint3 id : SV_DispatchThreadID`, or a struct of such fields.
struct SystemValue {
    std::string name;
    std::string semantic;  ///< in capitals: "SV_DISPATCHTHREADID"; empty: what "dispatch" says of the first
    Type type;
    std::size_t before = 0;  ///< the number of the other parameter that it stands before
    Location location;
    std::vector<SystemValue> fields = {};  ///< all of a struct's

    bool operator==(const SystemValue&) const = default;
};

/// What a function is to a GPU by itself.
enum class EntryPoint : std::uint8_t {
    none,
    compute,    ///< [shader("compute")], [numthreads] or [CUDAKernel]
    other,      ///< a stage of another pipeline, or a function of the host
    by_macros,  ///< a macro writes its attributes
};

/// A parameter of a generic function, or of a generic type that a function is a member of.
struct GenericParameter {
    std::string name;
    std::string value_type;                ///< of `let N : int`: "int"; empty: a type parameter
    std::vector<std::string> constraints;  ///< of types: the interfaces that each must conform to
    std::size_t part = 0;                  ///< which of the function's names takes it: 1 in "Type.f<T>"

    bool operator==(const GenericParameter&) const = default;
};

/// What a function is to the struct that it is a member of.
enum class Member : std::uint8_t {
    none,         ///< it is no member
    method,       ///< its first parameter is `this`, inout where it is [mutating]
    static_one,   ///< called as "Type.name"
    constructor,  ///< called as "Type"; its name is "Type.__init"
};

/// A call whose value and tangent Slang takes for 0 in forward derivatives.
struct LostTangent {
    std::string called;           ///< a function without a forward derivative; empty: there is none
    bool treated_as_one = false;  ///< it is marked [TreatAsDifferentiable]; else it has a backward derivative

    bool operator==(const LostTangent&) const = default;
};

/// A function. If it is generic, types that name generic parameters have the kind `other` and the text of
/// their declaration as name: "vector<T,N>".
struct Function {
    std::string name;                   ///< as called: "add", "ns.add"; of a struct's member "Type.method"
    std::vector<Parameter> parameters;  ///< without those of `system_values`
    Type result;
    bool no_diff_result = false;  ///< the result takes no gradient
    bool backward_differentiable = false;
    bool forward_differentiable = false;
    bool forward_by_hand = false;            ///< by [ForwardDerivative]
    LostTangent lost_tangent{};              ///< the first one; of itself, where it is marked so
    std::vector<GenericParameter> generics;  ///< outermost first; empty: nothing to specialise
    Member member = Member::none;            ///< of a struct
    std::string doc;                         ///< the comment written above it, markers stripped, lines kept
    Location location;
    bool is_overload =
        false;  ///< functions that the module doesn't declare have its name, perhaps Slang's own
    EntryPoint entry = EntryPoint::none;
    bool is_closed = false;  ///< its module keeps it to itself, as it isn't public
    std::vector<SystemValue> system_values = {};
    /// What [numthreads] says, x first; 0 where it says nothing, or no number that is known here.
    std::array<std::int64_t, 3> group_size{};
    /// What it says in its source, where that isn't numbers: "taps*2", "1", "1".
    std::vector<std::string> group_text = {};
    std::int64_t left_out = 0;  ///< parameters behind these, for which calls leave their default values

    [[nodiscard]] bool is_generic() const { return !generics.empty(); }
    bool operator==(const Function&) const = default;
};

/// What kernels can't name although its module could, for notes.
inline constexpr std::string_view why_closed =
    "of what a module keeps to itself, kernels can't name what is private, what a macro declares, and names "
    "that other modules mention, too";

/// What is written of a struct in the spec's modules.
struct StructText {
    std::string name;  ///< without generic arguments: "ns.Box"
    std::string doc;
    std::vector<std::pair<std::string, std::string>> fields;  ///< those that have a comment, and it

    bool operator==(const StructText&) const = default;
};

/// A member of every type that a pattern fits: of "Pair<T,float>", by an extension of some of them, or of
/// "This", by an interface that gives it to what conforms to it.
struct SharedMember {
    std::string owner;                       ///< the pattern, in which generic parameters stand
    std::vector<GenericParameter> generics;  ///< the pattern's own
    Function function;                       ///< its name is its last one; its types name the pattern's too

    bool operator==(const SharedMember&) const = default;
};

/// A global parameter that kernels can set: see global_parameters.h.
struct GlobalParameter {
    std::string name;  ///< "ns.tint"
    Type type;         ///< of a block or buffer what is in it
    Location location;
    std::string doc;
    std::string scope = {};        ///< "ns"; empty: none
    std::string module = {};       ///< the name of the one that declares it: see NamedModule
    std::string id = {};           ///< see GlobalPlace
    std::string closed_type = {};  ///< of it or in it, which kernels can't name; empty: none

    bool operator==(const GlobalParameter&) const = default;
};

/// A field of a public struct that kernels can't name.
struct HiddenField {
    std::string type;  ///< without generic arguments: "ns.Box"
    std::string name;
    Location location;

    bool operator==(const HiddenField&) const = default;
};

/// What modules leave to linking, `extern static const int N;`, or give to it, `export struct V : I = A;`.
struct LinkDeclaration {
    std::string name;  ///< "N", "ns.N"
    Location location;
    bool gives = false;              ///< `export`: it has a value for such a declaration elsewhere
    bool has_default = false;        ///< a value that holds where linking brings none
    Type type;                       ///< of a constant; of a struct: none
    std::string interfaces;          ///< of a struct, as it is declared: "IVal, IOther"; of a constant empty
    std::string default_value = {};  ///< of a constant, where it is a whole number that is known here
    bool is_specialization = false;  ///< its module leaves it to whoever makes a pipeline

    [[nodiscard]] bool is_constant() const { return !type.name.empty(); }
    bool operator==(const LinkDeclaration&) const = default;
};

/// A module whose name calls may put before a function's: one of the spec's, or one that these import.
struct NamedModule {
    std::string name;         ///< "geo.util", as it is imported; of one of the spec's: its file's
    std::string path;         ///< its file's, spelled likewise: "home.user.geo.util"
    std::string import_name;  ///< what generated kernels `import`
    std::vector<std::string> function_names;  ///< of all its functions, as Function has them
    /// Empty but where one of CompilerOptions::functions begins with the module's name.
    std::vector<Function> functions = {};
    std::vector<SharedMember> shared = {};

    /// Whether calls may write `prefix` for it: its name, or an end of its path, such as "util".
    [[nodiscard]] bool is_meant_by(std::string_view prefix) const;
    bool operator==(const NamedModule&) const = default;
};

/// Every function of the spec's modules by name, in source order, and what was read to learn of them.
struct Module {
    std::vector<std::string> module_names;       ///< what generated kernels must `import`
    std::vector<Function> functions;             ///< overloads share a name
    std::vector<StructText> structs;             ///< those with a comment, or with one at a field
    std::vector<SharedMember> shared;            ///< what has no whole name before a type is chosen
    std::map<std::string, std::string> sources;  ///< every file read, by its absolute path
    std::vector<HiddenField> closed_fields;
    std::vector<NamedModule> modules = {};  ///< the spec's, and all that these import, in the order loaded
    std::vector<GlobalParameter> globals = {};  ///< the spec's modules', and those of what they import
    std::vector<LinkDeclaration> link = {};     ///< in the order loaded, those of linked modules too
    /// What Slang is given of each of `sources`, for SPIR-V and for CUDA.
    std::map<std::string, std::array<std::string, 2>> compiled = {};
    std::vector<std::string> flag_enums = {};  ///< see flag_enums.h
};

}  // namespace kf::gen
