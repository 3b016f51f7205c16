// How requests and answers cross from kfgen to the process that runs Slang: CBOR.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "slang/compiler.h"

namespace kf::gen {

struct ReflectRequest {
    std::vector<std::filesystem::path> modules;
    std::string values = {};
};
struct CompileRequest {
    KernelSource source;
    CodeTarget target = CodeTarget::spirv;
};
struct ReachRequest {
    KernelSource source;
    CodeForm form;
};
/// `module`: that is searched first; see TypeLookup::within().
struct TypeRequest {
    std::string name;
    std::string module = {};
};
struct ConformsRequest {
    std::string type;
    std::string interface_name;
    std::string module = {};
};
using CompilerRequest =
    std::variant<ReflectRequest, CompileRequest, ReachRequest, TypeRequest, ConformsRequest>;

std::string encode(const CompilerRequest& request);
std::string encode(const Outcome<Module>& outcome);
std::string encode(const Outcome<CompiledKernel>& outcome);
std::string encode(const Outcome<std::vector<Reached>>& outcome);
std::string encode(const Outcome<std::optional<Type>>& outcome);
std::string encode(const Outcome<bool>& outcome);

// Both ends are one program, so malformed bytes are a bug: nlohmann's exceptions pass through.
CompilerRequest decode_request(const std::string& bytes);
Outcome<Module> decode_module(const std::string& bytes);
Outcome<CompiledKernel> decode_kernel(const std::string& bytes);
Outcome<std::vector<Reached>> decode_reached(const std::string& bytes);
Outcome<std::optional<Type>> decode_type(const std::string& bytes);
Outcome<bool> decode_conforms(const std::string& bytes);

}  // namespace kf::gen
