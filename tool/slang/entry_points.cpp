// Finds the attributes of entry points by their tokens, also in macros' definitions.
#include "slang/entry_points.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

/// CUDA's name, and the function of kf_launch.slang that stands for it, which is as long.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> cuda_names{
    {{"cudaThreadIdx", "kf_thread_idx"}, {"cudaBlockIdx", "kf_block_idx"}, {"cudaBlockDim", "kf_block_dim"}}};

static_assert(std::all_of(cuda_names.begin(), cuda_names.end(),
                          [](const auto& names) { return names.first.size() == names.second.size(); }));

std::string_view name_of(std::string_view attribute) { return attribute.substr(0, attribute.find('(')); }

/// Slang knows both spellings of each.
bool is_kernel(std::string_view name) { return name == "CUDAKernel" || name == "CudaKernel"; }
bool is_group_size(std::string_view name) { return name == "numthreads" || name == "NumThreads"; }
bool is_stage(std::string_view name) { return name == "shader" || name == "Shader"; }

bool is_compute_stage(std::string_view attribute) {
    return is_stage(name_of(attribute)) && attribute.substr(name_of(attribute).size()) == "(\"compute\")";
}

/// A lexeme's number, and those of the attribute list that it opens.
struct AttributeList {
    std::size_t open = 0;
    std::size_t close = 0;
    std::vector<std::pair<std::size_t, std::size_t>> attributes;  ///< [first, last) of each, with arguments
};

AttributeList list_at(const LexedText& text, std::size_t open) {
    AttributeList list{open, text.closing(open), {}};
    // "[[vk::binding(0)]]" has its list within.
    std::size_t first = open + 1;
    if (text[first] == "[") ++first;
    const std::size_t end = text[open + 1] == "[" ? text.closing(open + 1) : list.close;
    for (std::size_t at = first; at <= end && at < text.size(); ++at) {
        if (text[at] == "(") at = std::min(text.closing(at), end);
        if (text[at] != "," && at != end) continue;
        if (at > first) list.attributes.emplace_back(first, at);
        first = at + 1;
    }
    return list;
}

std::string written(const LexedText& text, std::pair<std::size_t, std::size_t> range) {
    std::string all;
    for (std::size_t at = range.first; at < range.second; ++at) all += text[at];
    return all;
}

/// An attribute list stands where a declaration may begin: behind another one's end, or another list.
bool begins_declaration(const LexedText& text, std::size_t at) {
    if (text[at] != "[") return false;
    if (at == 0 || text.kind(at - 1) == Lexeme::Kind::directive) return true;
    const std::string_view before = text[at - 1];
    return before == ";" || before == "}" || before == "{" || before == "]" || before == "public" ||
           before == ">";
}

/// The attribute lists of one function, and its name.
struct EntryText {
    std::vector<AttributeList> lists;
    std::string name;
    std::vector<std::string> attributes;
};

bool says(const EntryText& entry, bool (*what)(std::string_view)) {
    return std::any_of(entry.attributes.begin(), entry.attributes.end(),
                       [&](const std::string& attribute) { return what(name_of(attribute)); });
}

/// A stage of any pipeline.
bool is_entry(const EntryText& entry) {
    return says(entry, is_stage) || says(entry, is_group_size) || says(entry, is_kernel);
}

/// Reads the name behind `void` or `func` where the lists end, and the words before it.
void read_name(const LexedText& text, std::size_t at, EntryText& entry) {
    for (std::size_t end = std::min(text.size(), at + 32); at < end; ++at) {
        const std::string_view here = text[at];
        if (here == ";" || here == "{" || here == "}") return;
        if (is_one_of(here, "void", "func") && text.is_word(at + 1)) {
            entry.name = text[at + 1];
            return;
        }
    }
}

std::vector<EntryText> find_entry_points(const LexedText& text) {
    std::vector<EntryText> found;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!begins_declaration(text, at)) continue;
        EntryText entry;
        while (at < text.size() && text[at] == "[") {
            AttributeList list = list_at(text, at);
            if (list.close >= text.size()) return found;
            for (const auto& range : list.attributes) entry.attributes.push_back(written(text, range));
            at = list.close + 1;
            entry.lists.push_back(std::move(list));
        }
        if (is_compute_entry(entry.attributes) && !is_other_entry(entry.attributes)) {
            read_name(text, at, entry);
            if (!entry.name.empty()) found.push_back(std::move(entry));
        } else if (says(entry, is_stage)) {
            found.push_back(std::move(entry));
        }
        --at;
    }
    return found;
}

/// The namespaces that a place is in, "a::b" where one declaration opens two.
std::vector<std::string> namespaces_around(const LexedText& text, std::size_t place) {
    std::vector<std::string> open;  // empty ones of other braces
    std::optional<std::string> name;
    for (std::size_t at = 0; at < place; ++at) {
        const std::string_view here = text[at];
        if (here == "namespace") {
            name = "";
        } else if (here == "{") {
            open.push_back(name.value_or(""));
            name.reset();
        } else if (here == "}") {
            if (!open.empty()) open.pop_back();
        } else if (name && text.is_word(at)) {
            *name += (name->empty() ? "" : "::") + std::string(here);
        } else if (!is_one_of(here, ":", ".")) {
            name.reset();
        }
    }
    std::erase(open, "");
    return open;
}

/// Few modules have any of it, and splitting texts takes time.
bool may_launch(std::string_view text) {
    constexpr std::array<std::string_view, 7> words{"shader", "Shader",     "numthreads", "NumThreads",
                                                    "cuda",   "CUDAKernel", "CudaKernel"};
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != text.npos; });
}

bool is_of_entry(std::string_view attribute) {
    const std::string_view name = name_of(attribute);
    // Slang adds what an entry point uses to the capabilities that it requires, and no other function's.
    return is_stage(name) || is_group_size(name) || is_kernel(name) || name == "AutoPyBindCUDA" ||
           name == "WaveSize" || name == "require";
}

/// What `[[…]]` or `[a, b]` has besides entry points' own attributes stays.
void blank_attributes(const LexedText& text, const EntryText& entry, std::string& changed) {
    std::size_t number = 0;
    for (const AttributeList& list : entry.lists) {
        const std::size_t first = number;
        number += list.attributes.size();
        const auto begin = entry.attributes.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = entry.attributes.begin() + static_cast<std::ptrdiff_t>(number);
        if (std::all_of(begin, end, is_of_entry)) {
            blank_text(changed, text.offset(list.open), text.offset(list.close) + 1);
            continue;
        }
        bool keeps = false;
        for (std::size_t i = 0; i < list.attributes.size(); ++i) {
            const auto [from, to] = list.attributes[i];
            const bool drops = is_of_entry(entry.attributes[first + i]);
            // The comma before what is kept goes where nothing is kept before it.
            if (i > 0 && (drops || !keeps))
                blank_text(changed, text.offset(from - 1), text.offset(from - 1) + 1);
            if (drops) blank_text(changed, text.offset(from), text.offset(to));
            keeps = keeps || !drops;
        }
    }
}

/// What a `#define` defines, by its name and text; nothing of other directives.
std::optional<LexedText> macro_in(std::string_view directive) {
    const std::size_t word = directive.find_first_not_of(" \t", 1);
    constexpr std::string_view define = "define";
    if (word == directive.npos || !directive.substr(word).starts_with(define)) return std::nullopt;
    return LexedText(directive.substr(word + define.size()));
}

/// The lists in a macro's text that make what it stands before an entry point; empty where none does.
EntryText macro_entry(const LexedText& macro) {
    EntryText entry;
    for (std::size_t at = 1; at < macro.size(); ++at) {
        if (macro[at] != "[") continue;
        AttributeList list = list_at(macro, at);
        if (list.close >= macro.size()) break;
        for (const auto& range : list.attributes) entry.attributes.push_back(written(macro, range));
        at = list.close;
        entry.lists.push_back(std::move(list));
    }
    return is_entry(entry) ? entry : EntryText();
}

/// Calls `take` with each macro that makes entry points, and where its text begins.
template <class Take>
void each_macro_entry(const LexedText& text, Take take) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text.kind(at) != Lexeme::Kind::directive) continue;
        const std::optional<LexedText> macro = macro_in(text[at]);
        if (!macro) continue;
        const EntryText entry = macro_entry(*macro);
        if (!entry.lists.empty())
            take(*macro, entry,
                 text.offset(at) + text[at].find("define") + std::string_view("define").size());
    }
}

std::string_view cuda_name_at(const LexedText& text, std::size_t at) {
    if (!text.is_word(at) || text[at + 1] != "(") return {};
    for (const auto& [theirs, ours] : cuda_names)
        if (text[at] == theirs) return ours;
    return {};
}

}  // namespace

bool is_compute_entry(const std::vector<std::string>& attributes) {
    return std::any_of(attributes.begin(), attributes.end(), [](const std::string& attribute) {
        const std::string_view name = name_of(attribute);
        return is_compute_stage(attribute) || is_group_size(name) || is_kernel(name);
    });
}

bool is_other_entry(const std::vector<std::string>& attributes) {
    return std::any_of(attributes.begin(), attributes.end(), [](const std::string& attribute) {
        return (is_stage(name_of(attribute)) && !is_compute_stage(attribute)) ||
               attribute == "TorchEntryPoint" || attribute == "CudaHost" || attribute == "CUDAHost";
    });
}

std::optional<std::array<std::int64_t, 3>> stated_group_size(const std::vector<std::string>& attributes) {
    for (const std::string& attribute : attributes) {
        if (!is_group_size(name_of(attribute))) continue;
        std::array<std::int64_t, 3> size{1, 1, 1};
        const char* at = attribute.data() + std::string_view("numthreads(").size();
        const char* end = attribute.data() + attribute.size();
        for (std::int64_t& one : size) {
            const auto [stop, error] = std::from_chars(at, end, one);
            const char* next = stop != end && (*stop == 'u' || *stop == 'U') ? stop + 1 : stop;
            if (error != std::errc() || one < 1 || next == end) return std::nullopt;
            if (*next == ')') return size;
            if (*next != ',') return std::nullopt;
            at = next + 1;
        }
    }
    return std::nullopt;
}

std::vector<std::string> written_group_size(const std::vector<std::string>& attributes) {
    std::vector<std::string> extents;
    for (const std::string& attribute : attributes) {
        const std::string_view name = name_of(attribute);
        if (!is_group_size(name) || attribute.size() < name.size() + 2) continue;
        int nested = 0;
        extents.emplace_back();
        for (const char c :
             std::string_view(attribute).substr(name.size() + 1, attribute.size() - name.size() - 2)) {
            nested += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && nested == 0) {
                extents.emplace_back();
            } else {
                extents.back() += c;
            }
        }
        break;
    }
    return extents;
}

std::string group_size_struct(std::string_view function) {
    const std::size_t last = function.rfind('.') + 1;
    return std::string(function.substr(0, last)) + "kf_threads_" + std::string(function.substr(last));
}

std::string as_functions(std::string_view original) {
    std::string changed(original);
    if (!may_launch(original)) return changed;
    const LexedText text(original);
    for (const EntryText& entry : find_entry_points(text)) blank_attributes(text, entry, changed);
    each_macro_entry(text, [&](const LexedText& macro, const EntryText& entry, std::size_t begin) {
        const std::size_t end = begin + macro.whole().size();
        std::string blanked(macro.whole());
        blank_attributes(macro, entry, blanked);
        // A line goes on behind a backslash.
        for (std::size_t i = begin; i < end; ++i)
            if (original[i] != '\\') changed[i] = blanked[i - begin];
    });
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view ours = cuda_name_at(text, at);
        if (!ours.empty()) changed.replace(text.offset(at), ours.size(), ours);
    }
    return changed;
}

std::string as_functions_macro(std::string_view value) {
    constexpr std::string_view opening = "#define M ";
    return as_functions(std::string(opening) + std::string(value)).substr(opening.size());
}

std::set<std::string> entry_macros(std::string_view text) {
    std::set<std::string> names;
    if (!may_launch(text)) return names;
    each_macro_entry(LexedText(text),
                     [&](const LexedText& macro, const EntryText&, std::size_t) { names.emplace(macro[0]); });
    return names;
}

std::vector<EntryRange> entry_ranges(std::string_view original, const std::set<std::string>& macros) {
    std::vector<EntryRange> ranges;
    if (macros.empty() && !may_launch(original)) return ranges;
    const LexedText text(original);
    std::set<std::size_t> begins;
    for (const EntryText& entry : find_entry_points(text)) begins.insert(entry.lists.back().close);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text.is_word(at) && macros.contains(std::string(text[at])))
            begins.insert(text[at + 1] == "(" ? text.closing(at + 1) : at);
    }
    for (const std::size_t begin : begins) {
        std::size_t open = begin + 1;
        while (open < text.size() && !is_one_of(text[open], "(", "{", ";", "}")) ++open;
        if (text[open] != "(" || !text.is_word(open - 1)) continue;
        std::size_t body = open;
        while (body < text.size() && !is_one_of(text[body], "{", ";", "}"))
            body = text[body] == "(" ? text.closing(body) + 1 : body + 1;
        if (text[body] != "{" || text.closing(body) >= text.size()) continue;
        ranges.push_back({std::string(text[open - 1]), text.place({}, begin).line,
                          text.place({}, text.closing(body)).line});
    }
    return ranges;
}

std::string behind_functions(std::string_view original) {
    std::string behind;
    if (!may_launch(original)) return behind;
    const LexedText text(original);
    for (const EntryText& entry : find_entry_points(text)) {
        if (entry.name.empty() || stated_group_size(entry.attributes)) continue;
        for (const AttributeList& list : entry.lists) {
            for (const auto& [first, last] : list.attributes) {
                if (!is_group_size(text[first])) continue;
                std::string fields;
                std::size_t begin = first + 2;
                for (const std::string_view name : {"x", "y", "z"}) {
                    std::size_t end = begin;
                    while (end < last - 1 && text[end] != ",")
                        end = text[end] == "(" ? text.closing(end) + 1 : end + 1;
                    if (end > begin)
                        fields += " int " + std::string(name) + "[" + written(text, {begin, end}) + "];";
                    begin = std::min(end + 1, last - 1);
                }
                // Names mean there what they mean in the list.
                std::string ends;
                for (const std::string& space : namespaces_around(text, list.open)) {
                    behind += "namespace " + space + " { ";
                    ends += " }";
                }
                behind += "struct " + group_size_struct(entry.name) + " {" + fields + " };" + ends + "\n";
            }
        }
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (cuda_name_at(text, at).empty()) continue;
        behind += "import kf_launch;\n";
        break;
    }
    return behind.empty() ? behind : "\n" + behind;
}

}  // namespace kf::gen
