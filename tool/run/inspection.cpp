// The text of `kfgen inspect`: all that an artifact says about itself.
#include "run/inspection.h"

#include <kf/error.h>

#include <array>
#include <span>
#include <string_view>

#include "core/artifact.h"
#include "core/choose_constants.h"
#include "core/join.h"
#include "core/sha256.h"
#include "emit/overload.h"
#include "output/columns.h"

namespace kf::gen {

namespace {

/// How a kernel gets its block, by manifest::Passing.
constexpr std::array<std::string_view, 3> passing_words = {"", " in a uniform buffer", " by address"};

static_assert(passing_words.size() == manifest::passing_names.size());

/// "forward: kernels 0 (contiguous), 1 (strided)"; nothing for a pass that isn't there.
std::string pass_text(const NamedPass& pass) {
    std::vector<std::string> kernels;
    for (const auto& [variant, index] : pass.kernels.kernels()) {
        const std::string variant_name = manifest::variant_names.at(static_cast<std::size_t>(variant));
        if (index >= 0) kernels.push_back(std::to_string(index) + " (" + variant_name + ")");
    }
    if (kernels.empty()) return {};
    return "    " + std::string(pass.words) + ": kernel" + (kernels.size() == 1 ? " " : "s ") +
           join(kernels) + "\n";
}

std::string image_text(const manifest::Image& image, const ImageHolders& holders) {
    const std::string what = image.format + (image.architecture.empty() ? "" : " " + image.architecture);
    std::string text = "  " + padded(what, 14) + right(std::to_string(image.bytes.size()), 9) + " bytes  " +
                       hex(image.sha256);
    const auto held = holders.find(image.sha256);
    if (held != holders.end() && held->second > 1)
        text += ", shared by " + std::to_string(held->second) + " kernels";
    text += "\n    entry point " + image.entry_point;
    if (!image.features.empty()) text += ", needs " + join(image.features);
    if (!image.constants.empty()) text += ", for the constants " + join(image.constants);
    return text + "\n";
}

}  // namespace

std::string function_heading(const std::string& name, std::size_t overloads) {
    return name + ", " + counted(overloads, "overload") + "\n";
}

std::string overload_lines(const std::string& overload, const std::array<NamedPass, 6>& passes) {
    std::string text = "  " + overload + "\n";
    for (const NamedPass& pass : passes) text += pass_text(pass);
    return text;
}

std::string kernel_text(std::size_t index, const manifest::Kernel& kernel, const ImageHolders& holders) {
    const auto& size = kernel.group_size;
    std::string text = "kernel " + std::to_string(index) + ": " + kernel.name + "\n  group " +
                       std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
                       std::to_string(size[2]) + " threads";
    if (kernel.calls_per_thread > 1) text += " of " + std::to_string(kernel.calls_per_thread) + " calls each";
    for (const auto& [target, layout] : kernel.layouts) {
        text += ", " + target + " block " + std::to_string(layout.size) + " bytes" +
                std::string(passing_words.at(static_cast<std::size_t>(layout.passing)));
    }
    text += "\n";
    for (const manifest::ResourceSlot& slot : kernel.resources) {
        const bool is_said = slot.kind == manifest::ResourceKind::writable_texture;
        text += std::string("  takes a ") + (slot.writes && !is_said ? "written " : "") +
                manifest::resource_kind_names.at(static_cast<std::size_t>(slot.kind)) + " '" + slot.name +
                "'" + (slot.format.empty() ? "" : ", " + slot.format) + "\n";
    }
    for (const manifest::Image& image : kernel.images) text += image_text(image, holders);
    return text;
}

std::string inspection(const manifest::Manifest& manifest) {
    ImageHolders holders;
    std::size_t bytes = 0;
    for (const manifest::Kernel& kernel : manifest.kernels) {
        for (const manifest::Image& image : kernel.images) {
            if (++holders[image.sha256] == 1) bytes += image.bytes.size();
        }
    }
    std::string text = manifest.name + ", ABI " + std::to_string(manifest.abi) + "\n";
    for (const auto& [name, version] : manifest.producers) text += "made by " + name + " " + version + "\n";
    if (!manifest.constants.empty())
        text += "constants at run time: " + detail::constants_text(manifest) + "\n";
    text += "\n";
    for (const manifest::Function& function : manifest.functions) {
        text += function_heading(function.name, function.calls.size());
        for (const manifest::Call& call : function.calls)
            text += overload_lines(overload_text(call), named_passes(call));
    }
    text += "\n";
    for (std::size_t i = 0; i < manifest.kernels.size(); ++i)
        text += kernel_text(i, manifest.kernels[i], holders);
    return text + "\n" + counted(manifest.functions.size(), "function") + ", " +
           counted(manifest.kernels.size(), "kernel") + ", " + counted(holders.size(), "image") + " of " +
           std::to_string(bytes) + " bytes\n";
}

Outcome<manifest::Manifest> read_artifact(const std::filesystem::path& path, const FileSystem& file_system) {
    const Outcome<std::string> content = file_system.read(path);
    if (!content) {
        const Diagnostic& failed = content.errors().front();
        return Diagnostic{Severity::error, std::string(error_id(ErrorCode::artifact_missing)),
                          failed.location, failed.message, failed.notes};
    }
    try {
        return artifact::read(std::as_bytes(std::span(content.value())));
    } catch (const Error& error) {
        return Diagnostic{
            Severity::error, std::string(error_id(error.code())), {path.string(), 0, 0}, error.what(), {}};
    }
}

}  // namespace kf::gen
