// The files that a run writes beside its outputs, and those that it must not write over.
#include "run/records.h"

#include "output/conflicts.h"
#include "output/depfile.h"

namespace kf::gen {

std::vector<OutputFile> stamps(const Options& options) {
    if (options.stamp.empty()) return {};
    return {{options.stamp, "", true}};
}

std::vector<OutputFile> with_records(const Generated& generated, const Diagnostics& warnings,
                                     const OutputPaths& paths, const Options& options, const std::string& key,
                                     const FileSystem& disk) {
    std::vector<OutputFile> files = generated.files;
    const std::vector<OutputFile> last = stamps(options);
    std::vector<std::filesystem::path> targets;
    for (const OutputFile& stamp : last) targets.push_back(stamp.path);
    // py.typed is that of all modules of the folder, and a file is the output of one rule only.
    for (const OutputFile& file : files)
        if (file.path != paths.py_typed) targets.push_back(file.path);
    files.push_back({paths.depfile, depfile_text(targets, generated.inputs.paths()), false});
    const RunState next = record_run(disk, key, generated.inputs, files, warnings);
    files.push_back({paths.state, run_state_text(next), false});
    files.insert(files.end(), last.begin(), last.end());
    return files;
}

std::vector<std::filesystem::path> named_inputs(const Spec& spec, const Options& options) {
    std::vector<std::filesystem::path> inputs = slang_paths(spec);
    inputs.push_back(options.spec);
    const std::vector<std::filesystem::path> run = programs();
    inputs.insert(inputs.end(), run.begin(), run.end());
    return inputs;
}

Diagnostics conflicts(const OutputPaths& paths, const Options& options,
                      const std::vector<std::filesystem::path>& read) {
    std::vector<WrittenFile> written;
    for (const std::filesystem::path& path : paths.outputs(options)) written.push_back({path, "an output"});
    written.push_back({paths.state, "the record of the run"});
    written.push_back({paths.depfile, options.depfile.empty() ? "the depfile" : "--depfile"});
    if (!options.stamp.empty()) written.push_back({options.stamp, "--stamp"});
    return output_conflicts(written, read);
}

}  // namespace kf::gen
