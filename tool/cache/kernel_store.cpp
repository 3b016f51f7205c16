// Compiled kernels kept in a folder between runs.
#include "cache/kernel_store.h"

#include <nlohmann/json.hpp>

#include "cache/hash.h"

namespace kf::gen {
namespace {

using nlohmann::json;

/// Part of every key: raise it when CompiledKernel changes, or what kfgen has Slang make of the same text.
constexpr std::string_view format = "kernel 18";

}  // namespace

std::optional<CompiledKernel> CachedKernelStore::find(const std::string& key) {
    const auto bytes = cache_.find(hash_parts({format, key}));
    return bytes ? kernel_from_bytes(*bytes) : std::nullopt;
}

void CachedKernelStore::keep(const std::string& key, const CompiledKernel& kernel) {
    cache_.keep(hash_parts({format, key}), kernel_to_bytes(kernel));
}

std::string kernel_to_bytes(const CompiledKernel& kernel) {
    json block = json::array();
    for (const FieldLayout& field : kernel.block) {
        block.push_back(json::array({field.name, field.offset, field.size}));
    }
    const json document{
        {"code", json::binary({kernel.code.begin(), kernel.code.end()})},
        {"block_size", kernel.block_size},
        {"block", std::move(block)},
        {"features", kernel.features},
        {"constants", kernel.constants},
    };
    std::string bytes;
    json::to_cbor(document, bytes);
    return bytes;
}

std::optional<CompiledKernel> kernel_from_bytes(const std::string& bytes) {
    try {
        const json document = json::from_cbor(bytes);
        CompiledKernel kernel;
        const auto& code = document.at("code").get_binary();
        kernel.code.assign(code.begin(), code.end());
        kernel.block_size = document.at("block_size").get<std::int64_t>();
        for (const json& field : document.at("block")) {
            kernel.block.push_back({field.at(0).get<std::string>(), field.at(1).get<std::int64_t>(),
                                    field.at(2).get<std::int64_t>()});
        }
        kernel.features = document.at("features").get<std::vector<std::string>>();
        kernel.constants = document.at("constants").get<std::vector<std::uint32_t>>();
        return kernel;
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

}  // namespace kf::gen
