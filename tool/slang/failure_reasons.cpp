// Looks for the reasons in the text of the functions that a kernel reaches.
#include "slang/failure_reasons.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "slang/source_functions.h"
#include "slang/tokens.h"
#include "slang/workarounds/loop_starts.h"

namespace kf::gen {

namespace {

// Slang 2026.12's words for code of another target, and for what its derivative of a loop lacks.
constexpr std::string_view foreign_code = "Unhandled local inst";
constexpr std::string_view lost_start = "Unhandled global inst";
/// The id of what a function needs and the target doesn't have.
constexpr std::string_view unavailable = "slang-E36107";
/// The id of an interface whose objects are made by number, where no type stands behind it.
constexpr std::string_view no_conformance = "slang-E50100";

using Functions = std::vector<const SourceFunction*>;

/// The first place of the word in the function; its end where there is none.
std::size_t word_in(const SourceFunction& function, std::string_view word) {
    for (std::size_t index = function.begin; index < function.end; ++index) {
        if ((*function.text)[index] == word) return index;
    }
    return function.end;
}

bool has_word(const SourceFunction& function, std::string_view word) {
    return word_in(function, word) != function.end;
}

/// What Slang said, behind the reason for it.
void add_origin(Diagnostic& reason, const Diagnostic& said) {
    const Location& origin = said.location;
    reason.notes.push_back("found for the call at " + format_place(origin));
    std::string text = "Slang: " + said.message;
    while (text.ends_with(':') || text.ends_with(' ')) text.pop_back();
    reason.notes.push_back(std::move(text));
    reason.notes.insert(reason.notes.end(), said.notes.begin(), said.notes.end());
}

/// __intrinsic_asm without a branch for SPIR-V.
Diagnostics foreign_functions(const Functions& reached, const Diagnostic& said) {
    Diagnostics reasons;
    for (const SourceFunction* function : reached) {
        const std::size_t code = word_in(*function, "__intrinsic_asm");
        if (code == function->end || has_word(*function, "spirv") || has_word(*function, "default")) continue;
        Diagnostic reason{
            Severity::error,
            "slang-target-code",
            function->place(code),
            "'" + function->name + "' can't run on Vulkan: its __intrinsic_asm is code for other targets",
            {"give it code for SPIR-V, too: '__target_switch { case cuda: __intrinsic_asm \"…\"; case spirv: "
             "return …; }', or compile for CUDA alone"}};
        add_origin(reason, said);
        reasons.push_back(std::move(reason));
    }
    return reasons;
}

/// Loops whose first value is computed.
Diagnostics computed_starts(const Functions& reached, const Diagnostic& said) {
    Diagnostics reasons;
    for (const SourceFunction* function : reached) {
        if (!function->differentiable) continue;
        for (std::size_t index = function->body; index < function->end; ++index) {
            if (!starts_computed(*function->text, index)) continue;
            Diagnostic reason{Severity::error,
                              "slang-loop-start",
                              function->place(index),
                              computed_start_message(function->name),
                              {std::string(computed_start_cure)}};
            add_origin(reason, said);
            reasons.push_back(std::move(reason));
        }
    }
    return reasons;
}

/// The interface that a field of a struct is an object of, by the struct's name.
std::map<std::string_view, std::string_view> structs_of_objects(const std::vector<LexedText>& texts) {
    std::set<std::string_view> interfaces;
    for (const LexedText& text : texts) {
        for (std::size_t at = 0; at < text.size(); ++at)
            if (text[at] == "interface") interfaces.insert(text[at + 1]);
    }
    std::map<std::string_view, std::string_view> found;
    for (const LexedText& text : texts) {
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (text[at] != "struct" || !text.is_word(at + 1)) continue;
            std::size_t open = at + 2;
            while (open < text.size() && !is_one_of(text[open], "{", ";", "(")) ++open;
            if (text[open] != "{") continue;
            for (std::size_t field = open + 1; field < text.closing(open); ++field) {
                if (interfaces.contains(text[field]) && is_one_of(text[field - 1], "{", ";", "}") &&
                    text.is_word(field + 1) && is_one_of(text[field + 2], ";", "=", ","))
                    found.emplace(text[at + 1], text[field]);
                if (text[field] == "{") field = text.closing(field);
            }
        }
    }
    return found;
}

/// Optional<S> of a struct with a field that is an object of an interface.
Diagnostics optional_objects(const Functions& reached, const Diagnostic& said,
                             const std::map<std::string, std::string>& sources) {
    std::vector<LexedText> texts;
    for (const auto& source : sources) texts.emplace_back(source.second);
    const std::map<std::string_view, std::string_view> structs = structs_of_objects(texts);
    Diagnostics reasons;
    for (const SourceFunction* function : reached) {
        const LexedText& text = *function->text;
        for (std::size_t at = function->begin; at + 3 < function->end; ++at) {
            const auto found = structs.find(text[at + 2]);
            if (text[at] != "Optional" || text[at + 1] != "<" || text[at + 3] != ">" ||
                found == structs.end())
                continue;
            const std::string name(found->first);
            Diagnostic reason{
                Severity::error,
                said.id,
                function->place(at),
                "Slang crashes on an Optional of '" + name + "', which has an object of the interface '" +
                    std::string(found->second) + "' as a field",
                {"keep a bool beside the '" + name + "', or make its type a parameter: 'struct " + name +
                 "<T : " + std::string(found->second) + ">'"}};
            add_origin(reason, said);
            reasons.push_back(std::move(reason));
            break;
        }
    }
    return reasons;
}

/// The function's variables that are vectors or matrices, by the names of their types.
std::set<std::string_view> vectors_of(const SourceFunction& function) {
    const LexedText& text = *function.text;
    std::set<std::string_view> vectors;
    for (std::size_t index = function.begin; index + 1 < function.end; ++index) {
        const std::string_view type = text[index];
        if (!text.is_word(index) || !text.is_word(index + 1)) continue;
        const bool has_extent = !type.empty() && type.back() >= '1' && type.back() <= '4';
        const bool floats =
            type.starts_with("float") || type.starts_with("half") || type.starts_with("double");
        if (floats && has_extent) vectors.insert(text[index + 1]);
    }
    return vectors;
}

/// `a * v` and `v * a`, of a vector or matrix and another variable that is none.
std::vector<Location> mixed_products(const SourceFunction& function) {
    const std::set<std::string_view> vectors = vectors_of(function);
    const LexedText& text = *function.text;
    const auto is_variable = [&](std::size_t index) {
        return text.is_word(index) && (text[index][0] < '0' || text[index][0] > '9');
    };
    std::vector<Location> found;
    for (std::size_t index = function.body + 2; index + 2 < function.end; ++index) {
        const bool plain = text[index - 2] != "." && !is_one_of(text[index + 2], ".", "[", "(", "<");
        if (text[index] != "*" || !plain || !is_variable(index - 1) || !is_variable(index + 1)) continue;
        if (vectors.contains(text[index - 1]) != vectors.contains(text[index + 1])) {
            found.push_back(function.place(index - 1));
        }
    }
    return found;
}

/// What Slang says of an interface without types, in the spec's words.
void name_conformances(Diagnostic& said) {
    const std::size_t begin = said.message.find('\'') + 1;
    const std::string name = said.message.substr(begin, said.message.find('\'', begin) - begin);
    said.id = "conformance-missing";
    said.message =
        "no type stands behind the interface '" + name + "', of which objects are made at run time";
    said.notes.insert(
        said.notes.begin(),
        "list the types in the spec: \"conformances\": [{\"interface\": \"" + name + "\", \"type\": \"…\"}]");
}

/// What to write for a counter that no kernel is given, where Slang said that there is none.
void add_counter_cure(Diagnostic& said) {
    const bool counts = std::ranges::any_of(said.notes, [](const std::string& note) {
        return note.ends_with("'IncrementCounter'") || note.ends_with("'DecrementCounter'");
    });
    if (!counts) return;
    said.notes.insert(
        said.notes.begin(),
        "a RWStructuredBuffer has no hidden counter here: make it an AppendStructuredBuffer or a "
        "ConsumeStructuredBuffer, or count in a RWStructuredBuffer<Atomic<uint>> beside it");
}

void add_hint(Diagnostic& crash, const Functions& reached) {
    for (const SourceFunction* function : reached) {
        if (!function->differentiable) continue;
        for (const Location& place : mixed_products(*function)) {
            crash.notes.push_back(
                "in differentiable code `float3(a) * v` may work where `a * v` does not, a scalar times a "
                "vector, as at " +
                format_place(place));
        }
    }
}

}  // namespace

Diagnostics with_reasons(Diagnostics errors, const KernelSource& kernel,
                         const std::map<std::string, std::string>& sources) {
    for (Diagnostic& error : errors) {
        if (error.id == no_conformance) name_conformances(error);
        if (error.id == unavailable) add_counter_cure(error);
    }
    const auto is_unclear = [](const Diagnostic& error) {
        return error.id == "slang-internal" || error.id == "slang-E99997" || error.id == unavailable;
    };
    const auto unclear = std::find_if(errors.begin(), errors.end(), is_unclear);
    if (unclear == errors.end()) return errors;
    const SourceFunctions functions(sources);
    const Functions reached = functions.reached_from(kernel.text);
    const bool crashed = unclear->id == "slang-internal";
    Diagnostics reasons;
    if (unclear->id == unavailable) {
        // Its notes name the line where it's another feature.
        if (unclear->message.find("'spirv'") != std::string::npos) {
            reasons = foreign_functions(reached, *unclear);
        }
    } else if (unclear->message.find(foreign_code) != std::string::npos) {
        reasons = foreign_functions(reached, *unclear);
    } else if (crashed || unclear->message.find(lost_start) != std::string::npos) {
        reasons = computed_starts(reached, *unclear);
    }
    if (reasons.empty() && crashed) reasons = optional_objects(reached, *unclear, sources);
    if (!reasons.empty()) return reasons;
    if (crashed) add_hint(*unclear, reached);
    return errors;
}

}  // namespace kf::gen
