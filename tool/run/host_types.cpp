// Reads the headers of "structs", those with one compile database together.
#include "run/host_types.h"

#include <map>
#include <string>
#include <utility>

#include "libclang/compile_commands.h"
#include "libclang/reader.h"
#include "output/file_system.h"
#include "slang/library.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

fs::path absolute(const fs::path& folder, const fs::path& path) {
    return (fs::current_path() / folder / path).lexically_normal();
}

/// The entries that are compiled by one database's command, or by none.
struct Group {
    std::vector<std::size_t> entries;
    std::vector<std::string> options;
};

/// The database that an entry is compiled by; empty: none.
fs::path database_of(const StructSpec& entry, const Spec& spec) {
    if (!entry.compile_commands.empty()) return absolute(spec.directory, entry.compile_commands);
    return spec.cpp.compile_commands.empty() ? fs::path() : absolute({}, spec.cpp.compile_commands);
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
        std::map<std::vector<std::string>, Group> groups;
        for (std::size_t i = 0; i < spec_.structs.size(); ++i) {
            const Outcome<std::vector<std::string>> options = options_for(spec_.structs[i]);
            if (!options) return options.errors();
            Group& group = groups[options.value()];
            group.entries.push_back(i);
            group.options = options.value();
        }
        for (const auto& [options, group] : groups) {
            if (Diagnostics errors = read(group, *reader.value()); !errors.empty()) return errors;
        }
        Outcome<HostStructs> structs = match_host_structs(spec_.structs, types_, lookup);
        if (!structs) return structs.errors();
        return HostTypes{std::move(structs.value()), std::move(files_)};
    }

private:
    /// The spec's own folder comes last.
    Outcome<std::vector<std::string>> options_for(const StructSpec& entry) {
        std::vector<std::string> options;
        if (const fs::path database = database_of(entry, spec_); !database.empty()) {
            const Outcome<std::string> text = DiskFileSystem().read(database);
            if (!text) {
                Diagnostic error = text.errors().front();
                if (!entry.compile_commands.empty()) error.location = entry.compile_commands_location;
                return error;
            }
            const Location place = entry.compile_commands.empty() ? Location{database.string(), 0, 0}
                                                                  : entry.compile_commands_location;
            Outcome<std::vector<std::string>> found =
                options_of(text.value(), entry.header, absolute(spec_.directory, ""), place);
            if (!found) return found.errors();
            options = std::move(found.value());
            files_.push_back(database);
        }
        options.insert(options.end(), spec_.cpp.options.begin(), spec_.cpp.options.end());
        options.push_back("-I" + absolute(spec_.directory, ".").string());
        return options;
    }

    Diagnostics read(const Group& group, const CppReader& reader) {
        std::vector<CppRequest> requests;
        for (const std::size_t i : group.entries) {
            const StructSpec& entry = spec_.structs[i];
            requests.push_back({entry.header, entry.type, entry.header_location, entry.type_location});
        }
        Outcome<CppReading> reading = reader.read(requests, group.options);
        if (!reading) return reading.errors();
        for (std::size_t i = 0; i < group.entries.size(); ++i)
            types_[group.entries[i]] = std::move(reading.value().types[i]);
        for (const fs::path& file : reading.value().files) files_.push_back(absolute({}, file));
        return {};
    }

    const Spec& spec_;
    std::vector<CppType> types_;  ///< of each entry
    std::vector<fs::path> files_;
};

}  // namespace

Outcome<HostTypes> read_host_types(const Spec& spec, TypeLookup& lookup) {
    if (spec.structs.empty()) return HostTypes();
    return Reading(spec).run(lookup);
}

}  // namespace kf::gen
