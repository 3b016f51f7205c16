// `kfgen init`: a spec to start from, of all functions that can be called.
#pragma once

#include <filesystem>
#include <string>

#include "cli/options.h"
#include "output/file_system.h"

namespace kf::gen {

struct Starter {
    std::filesystem::path path;  ///< "-" for standard output
    std::string text;
};

/// Tries every function of Options::module in the ways of starter_calls.h, and writes down the first that
/// kernels can be made for; what can't be called is listed with the reason. The text generates as it stands.
/// Errors: "init-not-a-module", "init-file-exists", "init-no-functions", and Slang's.
Outcome<Starter> make_starter(const Options& options, const FileSystem& file_system);

}  // namespace kf::gen
