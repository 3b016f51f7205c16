// The files that a run writes beside its outputs, and those that it must not write over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/generate.h"

namespace kf::gen {

/// The file whose time says when kfgen ran last; none without --stamp.
std::vector<OutputFile> stamps(const Options& options);

/// The outputs, then the depfile, the record of the run under `key` with what it warned of, and
/// the stamp.
std::vector<OutputFile> with_records(const Generated& generated, const Diagnostics& warnings,
                                     const OutputPaths& paths, const Options& options, const std::string& key,
                                     const FileSystem& disk);

/// The files that the spec and the command line name: known before anything is compiled.
std::vector<std::filesystem::path> named_inputs(const Spec& spec, const Options& options);

/// An "output-conflict" for each file that the run would write over one that it reads, or writes twice.
Diagnostics conflicts(const OutputPaths& paths, const Options& options,
                      const std::vector<std::filesystem::path>& read);

}  // namespace kf::gen
