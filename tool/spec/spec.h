// The call spec as plain values: what the user asked for, before Slang is asked anything.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "spec/kind.h"

namespace kf::gen {

/// One listed argument of a call.
struct ArgumentSpec {
    std::string name;                    ///< the Slang parameter's name
    std::vector<KindSpec> alternatives;  ///< at least one
    Location location;                   ///< of the name

    bool operator==(const ArgumentSpec&) const = default;
};

/// Group size, x first; dimensions that were not given are 1.
struct ThreadsSpec {
    std::array<int, 3> size{1, 1, 1};
    int dimensions = 1;  ///< how many were given
    Location location;

    bool operator==(const ThreadsSpec&) const = default;
};

struct BackwardSpec {
    bool enabled = false;
    std::optional<std::vector<std::string>> inputs;  ///< unset: every differentiable input
    bool deterministic = false;
    bool deterministic_too = false;  ///< both ways are built, for run time to choose
    bool fused = false;
    Location location;

    bool operator==(const BackwardSpec&) const = default;
};

/// A name and what stands for it, with the place of the name: defines, link-time types, globals' formats.
struct NamedText {
    std::string name;
    std::string text;
    Location location;

    bool operator==(const NamedText&) const = default;
};

/// A value for an `extern static const` declaration, or a specialization constant.
struct ConstantSpec {
    std::string name;
    std::string type;  ///< empty: as it is declared
    ConstantScalar value;
    Location location;
    /// The spec lists its values: run time chooses one, by default the first, which is `value`. Empty: it is
    /// fixed.
    std::vector<ConstantScalar> values = {};

    bool operator==(const ConstantSpec&) const = default;
};

struct ConformanceSpec {
    std::string interface_name;
    std::string type;
    std::optional<int> id;
    Location location;

    bool operator==(const ConformanceSpec&) const = default;
};

/// The values and types that link-time declarations get.
struct LinkSpec {
    std::vector<ConstantSpec> constants;
    std::vector<NamedText> types;
    std::vector<ConformanceSpec> conformances;

    bool operator==(const LinkSpec&) const = default;
};

/// Where the dimensions of an argument, or the "result", are in one variant's call.
struct MapSpec {
    std::string argument;
    std::vector<int> map;
    Location location;

    bool operator==(const MapSpec&) const = default;
};

/// The settings that replace the spec's in one variant.
struct VariantSpec {
    std::string name;
    std::optional<ThreadsSpec> threads;
    LinkSpec link;
    Location location;
    std::vector<MapSpec> maps = {};
    std::optional<bool> debug_print = {};  ///< unset: the call's
    std::optional<bool> checked = {};

    bool operator==(const VariantSpec&) const = default;
};

/// The ways to accumulate that `.accumulate()` may pick for "result" or "NAME.grad"; the first is the
/// default.
struct AccumulateSpec {
    std::string target;
    std::vector<AccumulateWay> choices;
    Location location;

    bool operator==(const AccumulateSpec&) const = default;
};

/// A parameter that may share memory with others that are so named.
struct AliasSpec {
    std::string parameter;
    Location location;

    bool operator==(const AliasSpec&) const = default;
};

/// `arguments`: the call shape comes from the arguments. `threads`: the count is given at run time. `groups`:
/// it is one of whole groups.
enum class Dispatch : std::uint8_t { arguments, threads, groups };

struct CallSpec {
    std::string function;  ///< as written: "f", "f<float, 3>", "Type.method", "Type.__init"
    /// The module before `function`, once planning has found that it is one: "lib" of "lib.f".
    std::string module = {};
    std::string name;  ///< on the host; by default the function's last name ("Type" for "Type.__init")
    std::vector<ArgumentSpec> arguments;  ///< in the order written, which need not be the function's
    std::vector<KindSpec> result;         ///< empty: "auto"
    std::vector<KindSpec> self;           ///< "this"; empty: none given
    std::optional<ThreadsSpec> threads;   ///< unset: kfgen chooses
    Dispatch dispatch = Dispatch::arguments;
    BackwardSpec backward;
    std::optional<Location> forward_diff;  ///< where it is asked for
    bool strict_broadcasting = false;
    bool debug_print = false;  ///< lines and assertions
    bool checked = false;      ///< indices
    std::vector<VariantSpec> variants;
    std::vector<AccumulateSpec> accumulate;
    std::vector<AliasSpec> aliases = {};
    Location location;           ///< of the call's object
    Location function_location;  ///< of the function's name

    /// The function as the spec names it.
    [[nodiscard]] std::string written() const { return module.empty() ? function : module + "." + function; }

    bool operator==(const CallSpec&) const = default;
};

enum class Backend : std::uint8_t { vulkan, cuda };

struct TargetSpec {
    Backend backend = Backend::vulkan;
    std::vector<std::string> architectures;          ///< CUDA: "sm_80" …; empty: kfgen's own list
    bool ptx = true;                                 ///< CUDA: also PTX for newer devices
    std::optional<std::pair<int, int>> ptx_isa_max;  ///< CUDA: major and minor; unset: NVRTC's own
    Location location;

    bool operator==(const TargetSpec&) const = default;
};

struct PathSpec {
    std::filesystem::path path;  ///< as written; relative to Spec::directory
    Location location;

    bool operator==(const PathSpec&) const = default;
};

/// A host struct read from the user's own C++ header.
struct StructSpec {
    std::string slang;
    std::string header;
    std::string type;
    std::vector<NamedText> fields;  ///< Slang's fields that C++ calls otherwise: "origin" is "o", "camera.o"
    std::string compile_commands;   ///< as written; relative to Spec::directory; empty: the command line's
    Location location;              ///< of `slang`
    std::vector<NamedText> columns = {};  ///< Slang's fields that C++ has column by column; names only
    Location header_location = {};
    Location type_location = {};
    Location compile_commands_location = {};

    bool operator==(const StructSpec&) const = default;
};

/// How the headers of "structs" are compiled; from the command line.
struct CppSettings {
    std::vector<std::string> options;        ///< of the C++ compiler, in order
    std::filesystem::path compile_commands;  ///< empty: none

    bool operator==(const CppSettings&) const = default;
};

/// Options of Slang about the devices that code is for.
struct SlangOptions {
    std::vector<NamedText> capabilities;  ///< names alone
    bool ignores_capabilities = false;    ///< functions may use what they don't say they require

    bool operator==(const SlangOptions&) const = default;
};

struct Spec {
    int version = 1;
    std::string name;  ///< of all outputs, and of the C++ namespace and Python module
    Location name_location;
    std::string namespace_name;  ///< "a::b"; by default the name
    Location namespace_location;
    std::vector<PathSpec> modules;
    std::vector<PathSpec> search_paths;
    std::vector<NamedText> defines;
    SlangOptions slang;
    std::vector<TargetSpec> targets;        ///< at least one; by default Vulkan
    std::optional<Location> device_header;  ///< where NAME.cuh is asked for
    std::vector<CallSpec> calls;            ///< at least one
    LinkSpec values;                        ///< of link-time declarations
    std::vector<PathSpec> link;
    std::vector<StructSpec> structs;
    CppSettings cpp;
    std::vector<NamedText> globals;    ///< of textures that are globals, or in some: name and format
    std::vector<NamedText> graphs;     ///< names only: not generated by this version
    std::vector<NamedText> pipelines;  ///< names only: not generated by this version
    std::filesystem::path directory;   ///< the spec file's own
    std::string file;                  ///< the spec's path as the caller gave it
    std::string text;                  ///< what the file held, where it was read from one

    bool operator==(const Spec&) const = default;
};

}  // namespace kf::gen
