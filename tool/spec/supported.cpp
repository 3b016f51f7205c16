// Finds what a valid spec asks for that this version of kfgen doesn't generate yet.
#include "spec/supported.h"

#include "core/join.h"

namespace kf::gen {
namespace {

class Checker {
public:
    Diagnostics run(const Spec& spec) {
        each(spec.graphs, "graphs");
        each(spec.pipelines, "pipelines");
        for (const CallSpec& call : spec.calls) {
            check(call);
        }
        return std::move(errors_);
    }

private:
    void check(const CallSpec& call) {
        for (const ArgumentSpec& argument : call.arguments) {
            for (const KindSpec& kind : argument.alternatives) {
                check(kind, "the argument '" + argument.name + "'");
            }
        }
        for (const KindSpec& kind : call.result) {
            check(kind, "the result");
        }
        for (const KindSpec& kind : call.self) {
            check(kind, "\"this\"");
        }
    }

    void check(const KindSpec& kind, const std::string& what) {
        if (kind.kind == Kind::fields) {
            for (const FieldSpec& field : kind.fields) {
                for (const KindSpec& alternative : field.alternatives) {
                    check(alternative, "the field '" + field.name + "' of " + what);
                }
            }
            return;
        }
        if (is_supported(kind)) return;
        errors_.push_back(
            {Severity::error,
             "kind-not-supported",
             kind.location,
             "the kind '" + kind.spelling + "' of " + what + " is not supported by this version of kfgen",
             {"supported kinds: " + join(supported_spellings()) + ", {\"fields\": {…}}"}});
    }

    template <class Entry>
    void each(const std::vector<Entry>& entries, const std::string& what) {
        for (const Entry& entry : entries) {
            unless(false, entry.location, what);
        }
    }

    void unless(bool fine, const Location& location, const std::string& what) {
        if (!fine) {
            errors_.push_back({Severity::error,
                               "spec-not-supported",
                               location,
                               "not supported by this version of kfgen: " + what,
                               {}});
        }
    }

    Diagnostics errors_;
};

}  // namespace

Diagnostics check_supported(const Spec& spec) { return Checker().run(spec); }

}  // namespace kf::gen
