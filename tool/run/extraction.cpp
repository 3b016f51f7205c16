// `kfgen inspect --extract`: kernel images as files, and what else the artifact says as JSON.
#include "run/extraction.h"

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/sha256.h"
#include "emit/overload.h"
#include "run/passes.h"

namespace kf::gen {
namespace {

using Json = nlohmann::ordered_json;

/// A name for a file on every disk: names in artifacts may hold anything.
std::string file_name(const std::string& name) {
    std::string safe;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '_' || c == '-' || (c == '.' && !safe.empty());
        safe += plain ? c : '_';
    }
    constexpr std::size_t longest = 150;
    return safe.substr(0, longest);
}

std::string ending(const manifest::Image& image) {
    const std::string architecture = image.architecture.empty() ? "" : "." + file_name(image.architecture);
    return image.format == "spirv" ? ".spv" : architecture + "." + file_name(image.format);
}

class Extraction {
public:
    explicit Extraction(const std::filesystem::path& folder) : folder_(folder) {}

    std::vector<OutputFile> run(const manifest::Manifest& manifest) {
        Json kernels = Json::array();
        for (const manifest::Kernel& kernel : manifest.kernels) {
            Json images = Json::array();
            for (const manifest::Image& image : kernel.images) {
                images.push_back({{"file", file_of(kernel, image)},
                                  {"format", image.format},
                                  {"architecture", image.architecture},
                                  {"entry_point", image.entry_point},
                                  {"features", image.features},
                                  {"sha256", hex(image.sha256)}});
            }
            kernels.push_back({{"name", kernel.name},
                               {"group_size", kernel.group_size},
                               {"source_sha256", kernel.source_hash},
                               {"images", std::move(images)}});
        }
        Json functions = Json::array();
        for (const manifest::Function& function : manifest.functions) {
            Json calls = Json::array();
            for (const manifest::Call& call : function.calls)
                calls.push_back({{"signature", overload_text(call)}, {"kernels", kernels_of(call)}});
            functions.push_back(
                {{"name", function.name}, {"doc", function.doc}, {"overloads", std::move(calls)}});
        }
        const Json document{{"name", manifest.name},
                            {"abi", manifest.abi},
                            {"producers", manifest.producers},
                            {"functions", std::move(functions)},
                            {"kernels", std::move(kernels)}};
        files_.push_back({folder_ / "manifest.json",
                          document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", false});
        return std::move(files_);
    }

private:
    std::string file_of(const manifest::Kernel& kernel, const manifest::Image& image) {
        std::string& name = written_[image.sha256];
        if (!name.empty()) return name;
        const std::string stem = file_name(kernel.name);
        name = stem + ending(image);
        // Overloads' kernels share a name.
        for (int number = 2; !names_.insert(name).second; ++number)
            name = stem + "-" + std::to_string(number) + ending(image);
        const auto bytes = image.bytes.span();
        files_.push_back(
            {folder_ / name, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), false});
        return name;
    }

    /// Indices into "kernels".
    static Json kernels_of(const manifest::Call& call) {
        Json passes = Json::object();
        for (const NamedPass& pass : named_passes(call)) {
            Json kernels = Json::array();
            for (const auto& [variant, index] : pass.kernels.kernels())
                if (index >= 0) kernels.push_back(index);
            if (!kernels.empty()) passes[std::string(pass.key)] = std::move(kernels);
        }
        return passes;
    }

    const std::filesystem::path& folder_;
    std::vector<OutputFile> files_;
    std::map<std::array<std::uint8_t, 32>, std::string> written_;
    std::set<std::string> names_{"manifest.json"};
};

}  // namespace

std::vector<OutputFile> extracted_files(const manifest::Manifest& manifest,
                                        const std::filesystem::path& folder) {
    return Extraction(folder).run(manifest);
}

}  // namespace kf::gen
