// A strict Mustache: checks a template against its view, then has kainjow's renderer fill it.
#include "emit/render.h"

#include <algorithm>
#include <cstdint>
#include <kainjow/mustache.hpp>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace kf::gen {
namespace {

enum class TagKind : std::uint8_t { variable, section, inverted };

/// A template without its text: what it asks of the view.
struct Tag {
    TagKind kind = TagKind::variable;
    std::string name;
    std::int64_t line = 0;
    std::vector<Tag> children;  ///< of sections
};

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Diagnostic fault(std::string_view name, std::int64_t line, std::string message) {
    return {Severity::error, "internal-template", {std::string(name), line, 0}, std::move(message), {}};
}

/// Whether a line holds section tags and comments, at least one, and nothing else.
bool is_tag_line(std::string_view line) {
    line = trim(line);
    if (line.empty()) return false;
    while (!line.empty()) {
        const auto end = line.find("}}");
        if (!line.starts_with("{{") || end == std::string_view::npos || end < 3) return false;
        if (std::string_view("#^/!").find(line[2]) == std::string_view::npos) return false;
        line = trim(line.substr(end + 2));
    }
    return true;
}

/// Stands for a line end while kainjow fills the template: it drops line ends near sections that Mustache
/// keeps.
constexpr char line_end = '\x01';

/// The template as one line, without the line ends and the indentation of lines that hold only tags.
std::string joined_lines(std::string_view source) {
    std::string text;
    text.reserve(source.size());
    while (!source.empty()) {
        const auto end = source.find('\n');
        const auto line = source.substr(0, end);
        const bool tags = is_tag_line(line);
        text += tags ? trim(line) : line;
        if (!tags && end != std::string_view::npos) text += line_end;
        source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
    }
    return text;
}

/// Puts partials in their places.
class Includer {
public:
    Includer(std::string_view name, const Partials& partials) : name_(name), partials_(partials) {}

    Outcome<std::string> include(std::string_view source) {
        add(source, "");
        for (const auto& partial : partials_) {
            if (!used_.contains(partial.first))
                fail("no tag uses partial '" + std::string(partial.first) + "'", 0);
        }
        if (!errors_.empty()) return errors_;
        return std::move(text_);
    }

private:
    void add(std::string_view source, const std::string& indentation) {
        while (!source.empty()) {
            const auto end = std::min(source.find('\n'), source.size());
            const std::string_view line = source.substr(0, end);
            const std::string_view tag = trim(line);
            if (tag.starts_with("{{>") && tag.find("}}") == tag.size() - 2) {
                add_partial(trim(tag.substr(3, tag.size() - 5)),
                            indentation + std::string(line.substr(0, line.find('{'))));
            } else {
                if (!tag.empty()) text_ += indentation;
                text_ += source.substr(0, end + 1);
            }
            source.remove_prefix(std::min(end + 1, source.size()));
        }
    }

    void add_partial(std::string_view name, const std::string& indentation) {
        const auto partial = partials_.find(name);
        if (partial == partials_.end()) return fail("there is no partial '" + std::string(name) + "'");
        if (std::find(open_.begin(), open_.end(), name) != open_.end())
            return fail("partial '" + std::string(name) + "' includes itself");
        used_.insert(name);
        open_.push_back(name);
        add(partial->second, indentation);
        open_.pop_back();
    }

    void fail(const std::string& what) { fail(what, 1 + std::count(text_.begin(), text_.end(), '\n')); }
    void fail(const std::string& what, std::int64_t line) { errors_.push_back(fault(name_, line, what)); }

    std::string_view name_;
    const Partials& partials_;
    std::string text_;
    std::set<std::string_view> used_;
    std::vector<std::string_view> open_;  ///< that the current line is in
    Diagnostics errors_;
};

/// Reads the tags of a template; stops at the first that is wrong.
class TagReader {
public:
    TagReader(std::string_view name, std::string_view source) : name_(name), source_(source) {}

    Outcome<std::vector<Tag>> read() {
        std::int64_t line = 1;
        std::size_t at = 0;
        std::size_t counted = 0;  // the line ends before it
        while ((at = source_.find("{{", at)) != std::string_view::npos) {
            const std::string_view passed = source_.substr(counted, at - counted);
            line += std::count(passed.begin(), passed.end(), '\n');
            counted = at;
            const std::string_view closing = source_.substr(at).starts_with("{{{") ? "}}}" : "}}";
            const auto start = at + closing.size();
            const auto end = source_.find(closing, start);
            if (end == std::string_view::npos) return fault(name_, line, "a tag is not closed");
            if (const auto error = take(trim(source_.substr(start, end - start)), line); !error.empty())
                return fault(name_, line, error);
            at = end + closing.size();
        }
        if (open_.size() > 1)
            return fault(name_, open_.back().line, "section '" + open_.back().name + "' is not closed");
        return std::move(open_.front().children);
    }

private:
    /// Returns the error in the tag; empty when there is none.
    std::string take(std::string_view content, std::int64_t line) {
        const char sigil = content.empty() ? ' ' : content.front();
        const bool marked = std::string_view("#^/!&>=").find(sigil) != std::string_view::npos;
        const std::string name(marked ? trim(content.substr(1)) : content);
        if (sigil == '!') return {};
        if (sigil == '>') return "partial '" + name + "' does not stand alone in its line";
        if (sigil == '=') return "tag '" + std::string(content) + "' is not taken";
        if (sigil == '#' || sigil == '^') {
            open_.push_back({sigil == '#' ? TagKind::section : TagKind::inverted, name, line, {}});
            return {};
        }
        if (sigil != '/') {
            open_.back().children.push_back({TagKind::variable, name, line, {}});
            return {};
        }
        if (open_.size() == 1 || open_.back().name != name) return "'/" + name + "' closes no open section";
        Tag section = std::move(open_.back());
        open_.pop_back();
        open_.back().children.push_back(std::move(section));
        return {};
    }

    std::string_view name_;
    std::string_view source_;
    std::vector<Tag> open_{Tag{}};
};

/// Walks a template beside its view. Branches that won't be rendered are walked too: their tags count as
/// uses, but there values may be missing.
class Checker {
public:
    explicit Checker(std::string_view name) : name_(name) {}

    Diagnostics check(const std::vector<Tag>& tags, const View& view) {
        enter(tags, view, "", true);
        for (const auto& [path, used] : used_) {
            if (!used) errors_.push_back(fault(name_, 0, "no tag uses '" + path + "'"));
        }
        return std::move(errors_);
    }

private:
    struct Scope {
        const View* view;
        std::string prefix;  ///< "functions.calls.": the items of one list share it
    };

    void enter(const std::vector<Tag>& tags, const View& view, const std::string& prefix, bool live) {
        if (const View::Object* object = view.object()) {
            for (const auto& member : *object) used_.try_emplace(prefix + member.first, false);
        }
        scopes_.push_back({&view, prefix});
        walk(tags, live);
        scopes_.pop_back();
    }

    void walk(const std::vector<Tag>& tags, bool live) {
        for (const Tag& tag : tags) {
            std::string path;
            const View* value = find(tag.name, path);
            if (value == nullptr) {
                if (live) report(tag, "has no value");
                walk(tag.children, false);
            } else if (tag.kind == TagKind::variable) {
                if (live && value->text() == nullptr) report(tag, "is not a string");
            } else {
                walk_section(tag, *value, path, live);
            }
        }
    }

    void walk_section(const Tag& tag, const View& value, const std::string& path, bool live) {
        const bool inverted = tag.kind == TagKind::inverted;
        if (const bool* condition = value.condition()) {
            walk(tag.children, live && *condition != inverted);
        } else if (const View::List* list = value.list()) {
            if (inverted || list->empty())
                walk(tag.children, live && inverted && list->empty());
            else
                for (const View& item : *list) enter(tag.children, item, path + ".", live);
        } else if (value.object() != nullptr && inverted) {
            walk(tag.children, false);
        } else if (value.object() != nullptr) {
            enter(tag.children, value, path + ".", live);
        } else {
            report(tag, "is not a boolean, a list or an object");
        }
    }

    const View* find(const std::string& name, std::string& path) {
        if (name == ".") return scopes_.back().view;
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            const View::Object* object = scope->view->object();
            if (object == nullptr) continue;
            if (const auto member = object->find(name); member != object->end()) {
                path = scope->prefix + name;
                used_[path] = true;
                return &member->second;
            }
        }
        return nullptr;
    }

    void report(const Tag& tag, const std::string& what) {
        if (reported_.emplace(tag.line, tag.name).second)
            errors_.push_back(fault(name_, tag.line, "'" + tag.name + "' " + what));
    }

    std::string_view name_;
    Diagnostics errors_;
    std::vector<Scope> scopes_;
    std::map<std::string, bool> used_;
    std::set<std::pair<std::int64_t, std::string>> reported_;
};

kainjow::mustache::data convert(const View& view) {
    if (const std::string* text = view.text()) return *text;
    if (const bool* condition = view.condition()) return *condition;
    if (const View::List* list = view.list()) {
        kainjow::mustache::data items(kainjow::mustache::data::type::list);
        for (const View& item : *list) items.push_back(convert(item));
        return items;
    }
    kainjow::mustache::data object;
    for (const auto& [name, member] : *view.object()) object.set(name, convert(member));
    return object;
}

}  // namespace

Outcome<std::string> render(std::string_view name, std::string_view source, const View& view,
                            const Partials& partials) {
    const Outcome<std::string> whole = Includer(name, partials).include(source);
    if (!whole) return whole.errors();
    auto tags = TagReader(name, whole.value()).read();
    if (!tags) return tags.errors();
    if (Diagnostics errors = Checker(name).check(tags.value(), view); !errors.empty()) return errors;

    kainjow::mustache::mustache filler(joined_lines(whole.value()));
    filler.set_custom_escape([](const std::string& text) { return text; });
    std::string text = filler.render(convert(view));
    if (!filler.is_valid()) return fault(name, 0, filler.error_message());
    std::replace(text.begin(), text.end(), line_end, '\n');
    return text;
}

}  // namespace kf::gen
