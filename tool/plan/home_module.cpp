// Reads a call's function as one of the spec's modules, and as one of each module that it may begin with.
#include "plan/home_module.h"

#include <algorithm>
#include <span>

#include "core/join.h"
#include "plan/candidates.h"
#include "plan/shared_members.h"
#include "spec/names.h"

namespace kf::gen {

namespace {

/// All that planning asks of a module, of this one alone.
Module only(const NamedModule& named, const Module& module) {
    Module own;
    own.functions = named.functions;
    own.shared = named.shared;
    own.closed_fields = module.closed_fields;
    return own;
}

std::string first_names(const std::vector<std::string>& parts, std::size_t count) {
    return join(std::span(parts).first(count), ".");
}

/// One way to read a call's function.
struct NameReading {
    const NamedModule* module = nullptr;  ///< null: it is one of the spec's modules'
    Home home;
    std::vector<std::string> found;  ///< the functions of that name, for notes
};

class Finder {
public:
    Finder(const CallSpec& call, const Module& module, TypeLookup& types)
        : call_(call), module_(module), types_(types), parts_(name_parts(call.function)) {}

    Outcome<Home> find() {
        if (auto failure = read({}, nullptr)) return *failure;
        for (std::size_t count = 1; count < parts_.size(); ++count) {
            if (auto failure = read_modules(count)) return *failure;
        }
        const auto meant = std::count_if(readings_.begin(), readings_.end(), has_functions);
        if (meant > 1) return ambiguity();
        if (meant == 1) {
            return std::move(std::find_if(readings_.begin(), readings_.end(), has_functions)->home);
        }
        // A struct or namespace of that name is nearer than a module that lacks the function, too.
        return std::move(is_known_prefix() ? readings_.front().home : readings_.back().home);
    }

private:
    static bool has_functions(const NameReading& reading) { return !reading.found.empty(); }

    std::optional<Diagnostics> read_modules(std::size_t count) {
        const std::optional<std::string> rest = without_names(call_.function, count);
        if (!rest) return std::nullopt;
        const std::string prefix = first_names(parts_, count);
        const auto is_exact = [&](const NamedModule& one) { return one.name == prefix; };
        const bool exact = std::any_of(module_.modules.begin(), module_.modules.end(), is_exact);
        for (const NamedModule& one : module_.modules) {
            if (exact ? !is_exact(one) : !one.is_meant_by(prefix)) continue;
            CallSpec named = call_;
            named.function = *rest;
            named.module = prefix;
            if (auto failure = read(named, &one)) return failure;
        }
        return std::nullopt;
    }

    std::optional<Diagnostics> read(const CallSpec& named, const NamedModule* one) {
        NameReading& reading = readings_.emplace_back();
        reading.module = one;
        reading.home.call = one == nullptr ? call_ : named;
        if (one != nullptr) {
            reading.home.import_name = one->import_name;
            reading.home.own = std::make_unique<Module>(only(*one, module_));
            reading.home.types = types_.within(one->import_name);
        }
        const Module& searched = one == nullptr ? module_ : *reading.home.own;
        TypeLookup& types = reading.home.types ? *reading.home.types : types_;
        const Outcome<std::vector<Function>> shared = shared_members(reading.home.call, searched, types);
        if (!shared) return shared.errors();
        std::vector<const Function*> functions;
        for (const Function& function : searched.functions) {
            if (is_named(function, reading.home.call)) functions.push_back(&function);
        }
        for (const Function& function : shared.value()) functions.push_back(&function);
        reading.found = candidate_notes(functions);
        return std::nullopt;
    }

    bool is_known_prefix() const {
        return std::any_of(module_.functions.begin(), module_.functions.end(), [&](const Function& function) {
            return function.name.starts_with(parts_.front() + ".");
        });
    }

    /// Returns a module of the spec's that has it, by which the function may be identified.
    std::string listed_module() const {
        const std::string name = plain_name(call_.function);
        for (const NamedModule& one : module_.modules) {
            const auto& names = one.function_names;
            if (std::find(names.begin(), names.end(), name) != names.end()) return one.name;
        }
        return {};
    }

    /// The module's name with one folder more than the call has.
    std::string longer_name(const NameReading& reading) const {
        const std::vector<std::string> path = name_parts(reading.module->path);
        const std::size_t count = name_parts(reading.home.call.module).size() + 1;
        if (count > path.size()) return {};
        return join(std::span(path).last(count), ".");
    }

    Diagnostic ambiguity() const {
        Diagnostic error{
            Severity::error,
            "function-ambiguous",
            call_.function_location,
            "'" + call_.function + "' names functions of several modules, or of one and a struct",
            {}};
        std::string cure;
        for (const NameReading& reading : readings_) {
            if (reading.found.empty()) continue;
            error.notes.insert(error.notes.end(), reading.found.begin(), reading.found.end());
            const std::string module = reading.module == nullptr ? listed_module() : longer_name(reading);
            if (module.empty()) continue;
            cure += (cure.empty() ? "write \"" : " or \"") + module + "." + reading.home.call.function + "\"";
        }
        if (!cure.empty()) error.notes.push_back(cure);
        return error;
    }

    const CallSpec& call_;
    const Module& module_;
    TypeLookup& types_;
    std::vector<std::string> parts_;
    std::vector<NameReading> readings_;
};

}  // namespace

Outcome<Home> find_home(const CallSpec& call, const Module& module, TypeLookup& types) {
    return Finder(call, module, types).find();
}

}  // namespace kf::gen
