// Reads the headers of "structs", those that are compiled with the same options together.
#include "run/host_types.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libclang/compile_commands.h"
#include "libclang/reader.h"
#include "output/file_system.h"
#include "slang/library.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

/// The database that an entry is compiled by; empty: none.
fs::path database_of(const StructSpec& entry, const Spec& spec) {
    if (!entry.compile_commands.empty()) return absolute_from(spec.directory, entry.compile_commands);
    return spec.cpp.compile_commands.empty() ? fs::path() : absolute_from({}, spec.cpp.compile_commands);
}

/// Where the spec names an entry's database, or the database that the command line names.
Location place_of(const fs::path& database, const StructSpec& entry) {
    return entry.compile_commands.empty() ? Location{database.string(), 0, 0}
                                          : entry.compile_commands_location;
}

class Reading {
public:
    explicit Reading(const Spec& spec) : spec_(spec), types_(spec.structs.size()) {}

    Outcome<HostTypes> run(TypeLookup& lookup) {
        for (const StructSpec& entry : spec_.structs) {
            if (fs::path(entry.header).lexically_normal() != spec_.name + ".h") continue;
            return Diagnostic{Severity::error,
                              "host-struct",
                              entry.header_location,
                              "the header '" + entry.header + "' is called as the one that kfgen generates",
                              {"name it with a folder, or give the spec another \"name\""}};
        }
        // Slang's library lies in a folder of the site packages when it comes from a wheel.
        const auto reader = open_libclang(slang_library_path().parent_path().parent_path());
        if (!reader) {
            Diagnostic error = reader.errors().front();
            error.location = spec_.structs.front().location;
            return error;
        }
        std::map<std::vector<std::string>, std::vector<std::size_t>> entries;  // by their options
        for (std::size_t i = 0; i < spec_.structs.size(); ++i) {
            const Outcome<std::vector<std::string>> options = options_for(spec_.structs[i]);
            if (!options) return options.errors();
            entries[options.value()].push_back(i);
        }
        for (const auto& [options, group] : entries) {
            if (Diagnostics errors = read(group, options, *reader.value()); !errors.empty()) return errors;
        }
        Outcome<HostStructs> structs = match_host_structs(spec_.structs, types_, lookup);
        if (!structs) return structs.errors();
        return HostTypes{std::move(structs.value()), std::move(files_)};
    }

private:
    /// Reads the database that an entry is compiled by, unless an entry before it has the same.
    Outcome<const std::vector<CompileCommand>*> commands_in(const fs::path& database,
                                                            const StructSpec& entry) {
        if (const auto known = databases_.find(database); known != databases_.end()) return &known->second;
        const Outcome<std::string> text = DiskFileSystem().read(database);
        if (!text) {
            Diagnostic error = text.errors().front();
            if (!entry.compile_commands.empty()) error.location = entry.compile_commands_location;
            return error;
        }
        Outcome<std::vector<CompileCommand>> commands =
            parse_compile_commands(text.value(), place_of(database, entry));
        if (!commands) return commands.errors();
        files_.push_back(database);
        return &databases_.emplace(database, std::move(commands.value())).first->second;
    }

    /// Returns the options that an entry's header is compiled with. The spec's own folder comes last.
    Outcome<std::vector<std::string>> options_for(const StructSpec& entry) {
        std::vector<std::string> options;
        if (const fs::path database = database_of(entry, spec_); !database.empty()) {
            const auto commands = commands_in(database, entry);
            if (!commands) return commands.errors();
            Outcome<std::vector<std::string>> found =
                options_of(*commands.value(), entry.header, absolute_from(spec_.directory, ""),
                           place_of(database, entry));
            if (!found) return found.errors();
            options = std::move(found.value());
        }
        options.insert(options.end(), spec_.cpp.options.begin(), spec_.cpp.options.end());
        options.push_back("-I" + absolute_from(spec_.directory, ".").string());
        return options;
    }

    /// Reads the types of the entries that are compiled with the same options.
    Diagnostics read(const std::vector<std::size_t>& entries, const std::vector<std::string>& options,
                     const CppReader& reader) {
        std::vector<CppRequest> requests;
        for (const std::size_t i : entries) {
            const StructSpec& entry = spec_.structs[i];
            requests.push_back({entry.header, entry.type, entry.header_location, entry.type_location});
        }
        Outcome<CppReading> reading = reader.read(requests, options);
        if (!reading) return reading.errors();
        for (std::size_t i = 0; i < entries.size(); ++i)
            types_[entries[i]] = std::move(reading.value().types[i]);
        for (const fs::path& file : reading.value().files) files_.push_back(absolute_from({}, file));
        return {};
    }

    const Spec& spec_;
    std::vector<CppType> types_;  ///< of each entry
    std::map<fs::path, std::vector<CompileCommand>> databases_;
    std::vector<fs::path> files_;
};

}  // namespace

Outcome<HostTypes> read_host_types(const Spec& spec, TypeLookup& lookup) {
    if (spec.structs.empty()) return HostTypes();
    return Reading(spec).run(lookup);
}

}  // namespace kf::gen
