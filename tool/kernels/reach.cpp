// Refuses calls whose functions depend on more than their arguments.
#include "kernels/reach.h"

#include <algorithm>
#include <optional>
#include <span>
#include <sstream>
#include <string>

#include "emit/probe.h"
#include "plan/types.h"
#include "slang/workarounds/loop_starts.h"

namespace kf::gen {

namespace {

/// Part of every key: raise it when probes are written or read in another way.
constexpr std::string_view version = "probe 5";

/// How many functions are looked at together.
constexpr std::ptrdiff_t batch = 32;

/// A probe of one function, and the calls that it stands for.
struct Subject {
    KernelSource probe;
    std::vector<const PlannedCall*> calls;
    std::vector<Reached> reached;
};

std::string place_text(const Location& place) {
    std::string text = place.file;
    for (const std::int64_t number : {place.line, place.column})
        if (number > 0) text += ":" + std::to_string(number);
    return text;
}

/// Whether code that is launched so may depend on it.
bool may_reach(manifest::Dispatch dispatch, Reach what) {
    switch (what) {
        case Reach::parameter:
        case Reach::loop_start: return false;
        // Threads beyond those that were asked for would not get there.
        case Reach::group_memory:
        case Reach::barrier: return dispatch == manifest::Dispatch::groups;
        default: return dispatch != manifest::Dispatch::elements;
    }
}

bool is_variable(const Reached& reached) {
    return reached.what == Reach::parameter || reached.what == Reach::static_variable ||
           reached.what == Reach::group_memory;
}

std::string error_id(Reach what) {
    if (what == Reach::parameter) return "global-parameter";
    if (what == Reach::loop_start) return "slang-loop-start";
    return what == Reach::static_variable ? "mutable-static" : "thread-dependent";
}

/// Where Slang finds what a DescriptorHandle names.
bool is_descriptor_heap(const Reached& reached) { return reached.name == "__slang_resource_heap"; }

std::string message(const Reached& reached, const std::string& function) {
    if (is_descriptor_heap(reached)) {
        return "'" + function +
               "' reads or writes through a DescriptorHandle, which this version of kfgen gives "
               "nothing to name";
    }
    const std::string name = "'" + reached.name + "'";
    switch (reached.what) {
        case Reach::parameter:
            return name + " is a global parameter, which calls are not given: '" + function + "' reaches it";
        case Reach::static_variable:
            return name + " is a static variable that '" + function +
                   "' changes: its results would depend on the calls that a thread made before";
        case Reach::group_memory:
            return name + " is groupshared, and '" + function +
                   "' reaches it: its results would depend on how calls are mapped to threads";
        case Reach::barrier:
        case Reach::lanes:
        case Reach::builtin:
            return "'" + function + "' reaches " + reached.name +
                   ": its results would depend on how calls are mapped to threads";
        case Reach::clock:
            return "'" + function + "' reaches " + reached.name + ": its results would depend on the time";
        case Reach::loop_start: return computed_start_message(function);
    }
    return {};
}

std::string cure(const Reached& reached) {
    if (is_descriptor_heap(reached))
        return "take the buffer itself, as in RWStructuredBuffer<float>, or a pointer: float*";
    switch (reached.what) {
        case Reach::parameter:
            return reached.initialised
                       ? "Slang takes every global without 'static' as a parameter and leaves its value out: "
                         "declare it 'static const', or make it a parameter of the function"
                       : "declare it by its name and type alone, for the host to set, or make it a parameter "
                         "of "
                         "the function; constants are declared 'static const'";
        case Reach::static_variable:
            return "make it a local variable, or an inout parameter of the functions that share it; "
                   "constants are declared 'static const'";
        case Reach::builtin:
            return "a call learns its own index from an argument of the kind call_id or thread_id";
        case Reach::clock: return "pass the time as an argument";
        case Reach::loop_start: return std::string(computed_start_cure);
        case Reach::group_memory:
        case Reach::barrier:
        case Reach::lanes:
            return "write it for one call by itself; the spec's \"accumulate\" combines what calls give. "
                   "Code "
                   "for groups of threads belongs in entry points, [shader(\"compute\")] [numthreads(…)], or "
                   "in "
                   "calls whose spec says \"dispatch\": \"groups\"";
    }
    return {};
}

/// Where in the source, and what stands there.
std::string use_note(const Reached& reached, bool has_place) {
    std::string text = reached.function.empty() ? "" : "in '" + reached.function + "'";
    if (has_place && !reached.used.file.empty())
        text += (text.empty() ? "at " : ", ") + place_text(reached.used);
    if (!reached.line.empty()) text += (text.empty() ? "" : ": ") + reached.line;
    return text;
}

Diagnostic reach_error(const Reached& reached, const PlannedCall& call) {
    Diagnostic error{
        Severity::error, error_id(reached.what), call.location, message(reached, call.function), {}};
    const bool by_declaration = is_variable(reached) && !reached.declared.file.empty();
    if (by_declaration) {
        error.location = reached.declared;
    } else if (!reached.used.file.empty()) {
        error.location = reached.used;
    }
    const std::string use = use_note(reached, by_declaration);
    if (!use.empty()) error.notes.push_back(use);
    error.notes.push_back(cure(reached));
    return error;
}

/// One error for what several calls reach, with those calls in its notes.
class ReachCollector {
public:
    void add(const Subject& subject) {
        for (const Reached& reached : subject.reached) {
            Diagnostic error = reach_error(reached, *subject.calls.front());
            auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
                return entry.error.id == error.id && entry.error.location == error.location &&
                       entry.name == reached.name;
            });
            if (known == entries_.end())
                known = entries_.insert(entries_.end(), {std::move(error), reached.name, {}});
            known->calls.insert(known->calls.end(), subject.calls.begin(), subject.calls.end());
        }
    }

    Diagnostics take() {
        Diagnostics errors;
        for (Entry& entry : entries_) {
            std::vector<std::string> notes;
            for (const PlannedCall* call : entry.calls) {
                std::string note = "called as '" + call->function + "' at " + place_text(call->location);
                if (std::find(notes.begin(), notes.end(), note) == notes.end())
                    notes.push_back(std::move(note));
            }
            constexpr std::size_t most = 3;
            if (notes.size() > most) {
                const std::size_t more = notes.size() - most;
                notes.resize(most);
                notes.back() += " and in " + std::to_string(more) + " other place" + (more > 1 ? "s" : "");
            }
            std::vector<std::string>& all = entry.error.notes;
            all.insert(all.end() - 1, notes.begin(), notes.end());
            errors.push_back(std::move(entry.error));
        }
        return errors;
    }

private:
    struct Entry {
        Diagnostic error;
        std::string name;
        std::vector<const PlannedCall*> calls;
    };
    std::vector<Entry> entries_;
};

/// Returns whether it is a texture or sampler, or something with one in it.
bool holds_texture(const Type& type) {
    const Type& inner = innermost_of_arrays(type);
    return inner.kind == TypeKind::texture || inner.kind == TypeKind::sampler ||
           std::any_of(inner.fields.begin(), inner.fields.end(),
                       [](const Field& field) { return holds_texture(field.type); });
}

class Checker {
public:
    Checker(const Plan& plan, const ReachSettings& settings, Compiler& compiler)
        : plan_(plan), settings_(settings), compiler_(compiler) {}

    ReachReport check() {
        for (const PlannedFunction& function : plan_.functions) {
            for (const PlannedCall& call : function.calls) add_subject(call);
        }
        // Functions of one dispatch come together, since only they can be checked together.
        std::stable_sort(subjects_.begin(), subjects_.end(),
                         [](const Subject& a, const Subject& b) { return dispatch_of(a) < dispatch_of(b); });
        for (const CodeTarget target : settings_.targets) {
            std::vector<Subject*> unknown;
            for (Subject& subject : subjects_) {
                if (!take_known(subject, target)) unknown.push_back(&subject);
            }
            for (auto first = unknown.begin(); first != unknown.end();) {
                // Functions are checked together only if they are linked with the same values, too.
                const auto end = std::find_if(first, unknown.end(), [&](const Subject* subject) {
                    return dispatch_of(*subject) != dispatch_of(**first) ||
                           link_of(*subject) != link_of(**first);
                });
                const auto next = first + std::min<std::ptrdiff_t>(batch, end - first);
                look_at({first, next}, target);
                first = next;
            }
        }
        ReachCollector collector;
        for (const Subject& subject : subjects_) collector.add(subject);
        Diagnostics errors = collector.take();
        report_.errors.insert(report_.errors.end(), errors.begin(), errors.end());
        return std::move(report_);
    }

private:
    [[nodiscard]] ProbedGlobals probed_globals() const {
        ProbedGlobals probed;
        for (const GlobalParameter& one : settings_.globals) {
            probed.tensors = probed.tensors || holds_tensor(one.type);
            probed.textures = probed.textures || holds_texture(one.type);
        }
        return probed;
    }

    static manifest::Dispatch dispatch_of(const Subject& subject) { return subject.calls.front()->dispatch; }

    void add_subject(const PlannedCall& call) {
        Outcome<KernelSource> probe = emit_probe(plan_, {&call}, probed_globals());
        if (!probe) return fail(probe.errors());
        const auto known = std::find_if(subjects_.begin(), subjects_.end(), [&](const Subject& subject) {
            return subject.probe.code_text() == probe.value().code_text() &&
                   dispatch_of(subject) == call.dispatch;
        });
        if (known != subjects_.end()) {
            known->calls.push_back(&call);
        } else {
            subjects_.push_back({std::move(probe.value()), {&call}, {}});
        }
    }

    static const LinkTime& link_of(const Subject& subject) { return subject.calls.front()->link; }

    /// Takes what the store has of it.
    bool take_known(Subject& subject, CodeTarget target) {
        if (settings_.store == nullptr) return false;
        std::optional<std::vector<Reached>> known = kept(key_of(subject, target));
        if (!known) return false;
        // A function that is refused on one target stays refused.
        if (!subject.reached.empty()) return true;
        subject.reached = std::move(*known);
        take_globals(subject);
        return true;
    }

    void look_at(std::span<Subject*> subjects, CodeTarget target) {
        const manifest::Dispatch dispatch = dispatch_of(*subjects.front());
        if (subjects.size() > 1) {
            std::vector<const PlannedCall*> calls;
            for (const Subject* subject : subjects) calls.push_back(subject->calls.front());
            const Outcome<KernelSource> probe = emit_probe(plan_, calls, probed_globals());
            if (!probe) return fail(probe.errors());
            const auto reached = without_allowed(compiler_.reach(probe.value(), {target}), dispatch);
            if (reached && reached.value().empty()) {
                for (const Subject* subject : subjects) keep(key_of(*subject, target), {});
                return;
            }
            // The finding may be of any of the functions, so each is looked at alone.
        }
        for (Subject* one : subjects) {
            Subject& subject = *one;
            // A function that is refused on one target would be again on another, under other names.
            if (!subject.reached.empty()) continue;
            auto reached = without_allowed(compiler_.reach(subject.probe, {target}), dispatch);
            if (!reached) {
                fail(reached.errors());
                continue;
            }
            if (reached.value().empty()) {
                keep(key_of(subject, target), {});
                continue;
            }
            if (!is_settable(reached.value())) {
                const Outcome<std::vector<Reached>> placed =
                    without_allowed(compiler_.reach(subject.probe, {target, true}), dispatch);
                if (placed && !placed.value().empty()) reached = placed;
            }
            subject.reached = reached.value();
            const std::vector<Location> places = take_globals(subject);
            if (subject.reached.empty()) keep(key_of(subject, target), places);
        }
    }

    /// The global that is declared there, for the host to set; null: none is.
    [[nodiscard]] const GlobalParameter* global_at(const Location& place) const {
        const auto found = std::find_if(settings_.globals.begin(), settings_.globals.end(),
                                        [&](const GlobalParameter& one) { return one.location == place; });
        return found == settings_.globals.end() ? nullptr : &*found;
    }

    [[nodiscard]] bool is_settable(const Reached& reached) const {
        return reached.what == Reach::parameter && global_at(reached.declared) != nullptr;
    }
    [[nodiscard]] bool is_settable(const std::vector<Reached>& reached) const {
        return std::all_of(reached.begin(), reached.end(),
                           [&](const Reached& one) { return is_settable(one); });
    }

    /// Takes globals that the host sets out of what is refused, and returns where they are declared.
    std::vector<Location> take_globals(Subject& subject) {
        std::vector<Location> taken;
        const auto add_to = [](std::vector<Location>& places, const Location& place) {
            if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
        };
        std::erase_if(subject.reached, [&](const Reached& reached) {
            if (!is_settable(reached)) return false;
            add_to(taken, reached.declared);
            for (const PlannedCall* call : subject.calls) add_to(report_.globals[call], reached.declared);
            return true;
        });
        return taken;
    }

    static Outcome<std::vector<Reached>> without_allowed(Outcome<std::vector<Reached>> reached,
                                                         manifest::Dispatch dispatch) {
        if (reached)
            std::erase_if(reached.value(), [&](const Reached& one) { return may_reach(dispatch, one.what); });
        return reached;
    }

    [[nodiscard]] std::string key_of(const Subject& subject, CodeTarget target) const {
        if (settings_.store == nullptr) return {};
        const auto dispatch = static_cast<std::size_t>(dispatch_of(subject));
        return settings_.keys->key(target, subject.probe,
                                   std::string(version) + " " + manifest::dispatch_names.at(dispatch));
    }

    /// The store keeps the ids of globals that the host sets: what else is found is looked for again, so that
    /// nothing hides an error.
    void keep(const std::string& key, const std::vector<Location>& places) const {
        if (settings_.store == nullptr) return;
        CompiledKernel ids;
        for (const Location& place : places) ids.code += global_at(place)->id + "\n";
        settings_.store->keep(key, ids);
    }

    /// Returns what keep() was given, or nothing where some of the globals are no longer there.
    [[nodiscard]] std::optional<std::vector<Reached>> kept(const std::string& key) const {
        const auto found = settings_.store != nullptr ? settings_.store->find(key) : std::nullopt;
        if (!found) return std::nullopt;
        std::vector<Reached> reached;
        std::istringstream ids(found->code);
        for (std::string id; std::getline(ids, id);) {
            const auto global = std::find_if(settings_.globals.begin(), settings_.globals.end(),
                                             [&](const GlobalParameter& one) { return one.id == id; });
            if (global == settings_.globals.end()) return std::nullopt;
            Reached& one = reached.emplace_back();
            one.name = global->name;
            one.declared = global->location;
        }
        return reached;
    }

    void fail(const Diagnostics& errors) {
        for (const Diagnostic& error : errors) {
            Diagnostics& list =
                error.id == "slang-timeout" || error.id == "slang-memory" ? report_.errors : report_.failures;
            if (std::find(list.begin(), list.end(), error) == list.end()) list.push_back(error);
        }
    }

    const Plan& plan_;
    const ReachSettings& settings_;
    Compiler& compiler_;
    std::vector<Subject> subjects_;
    ReachReport report_;
};

}  // namespace

ReachReport check_reach(const Plan& plan, const ReachSettings& settings, Compiler& compiler) {
    return Checker(plan, settings, compiler).check();
}

}  // namespace kf::gen
