// Reads the printed form line by line.
#include "slang/ir_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace kf::gen::ir {

namespace {

Text trimmed(Text text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == Text::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Where the parenthesis opens that the last character closes; npos where it closes none.
std::size_t last_group(Text text) {
    if (!text.ends_with(')')) return Text::npos;
    int open = 0;
    for (std::size_t at = text.size(); at-- > 0;) {
        open += text[at] == ')' ? 1 : (text[at] == '(' ? -1 : 0);
        if (open == 0) return at;
    }
    return Text::npos;
}

/// What follows `prefix`, up to the end of a word.
Text word_after(Text text, Text prefix) {
    text = text.substr(std::min(prefix.size(), text.size()));
    return text.substr(0, text.find_first_of(" \t:,()"));
}

std::int64_t number(Text text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

Text quoted(Text text) {
    const std::size_t begin = text.find('"');
    const std::size_t end = text.rfind('"');
    return begin < end && end != Text::npos ? text.substr(begin + 1, end - begin - 1) : Text();
}

class Parser {
public:
    Module run(Text text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            read_line(trimmed(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        note_opaque();
        return std::move(module_);
    }

private:
    /// Where Slang made a derivative and one is written, too, the function has that one.
    void note_opaque() {
        std::set<Text> written;
        for (const auto& [function, derivative] : forward_) {
            const auto inner = module_.generics.find(derivative);
            const bool made = opaque_.contains(derivative) ||
                              (inner != module_.generics.end() && opaque_.contains(inner->second));
            (made ? module_.opaque : written).insert(head_of(function));
        }
        for (const auto& [derivative, function] : opaque_) {
            if (!written.contains(function)) module_.opaque.insert(function);
        }
    }

    void read_line(Text line) {
        if (line.empty()) return;
        if (line.starts_with('[') && line.ends_with(']')) return read_decoration(line);
        if (in_parameters_) {
            read_parameter(line);
        } else if (line.starts_with("func ")) {
            open_function(line);
        } else if (line.starts_with("generic ")) {
            generics_.push_back(word_after(line, "generic "));
        } else if (line.starts_with("Annotation(")) {
            const std::vector<Text> parts = parts_of(line);
            if (!parts.empty()) note_annotation(parts);
        } else if (body_ != nullptr) {
            read_body(line);
        } else if (line.starts_with("return_val(") && !generics_.empty()) {
            const std::vector<Text> parts = parts_of(line);
            if (!parts.empty()) module_.generics[generics_.back()] = parts.front();
            generics_.pop_back();
        } else if (line.starts_with("let ")) {
            note_value(instruction(line));
        }
        name_ = {};
        no_diff_ = false;
        has_derivative_ = false;
    }

    /// Annotations have numbers: 1 is a function's forward derivative, 4 applies its backward one.
    void note_annotation(const std::vector<Text>& parts) {
        const Text subject = parts.front();
        module_.annotated.insert(subject);
        const std::int64_t what = parts.size() > 1 ? number(parts[1]) : 0;
        if (what == 1) {
            module_.forward.insert(subject);
            forward_[subject] = parts.size() > 2 ? head_of(parts[2]) : Text();
        }
        if (what == 4) module_.backward.insert(subject);
    }

    void read_decoration(Text line) {
        if (line.starts_with("[nameHint(")) name_ = quoted(line);
        if (line.starts_with("[treatCallAsDifferentiable")) no_diff_ = true;
        if (line.starts_with("[derivativeMember")) has_derivative_ = true;
    }

    void open_function(Text line) {
        const bool declared = line.ends_with(';');
        Function& function = module_.functions.emplace_back();
        function.id = word_after(line, "func ");
        const std::size_t colon = line.find(": ");
        function.type = colon == Text::npos ? Text() : line.substr(colon + 2);
        if (declared) function.type.remove_suffix(1);
        if (!generics_.empty()) function.generic = generics_.back();
        if (!name_.empty()) module_.names[function.id] = name_;
        body_ = declared ? nullptr : &function;
        line_ = 0;
    }

    void read_body(Text line) {
        if (line == "}") {
            body_ = nullptr;
        } else if (line.starts_with("block ")) {
            body_->blocks.emplace_back().id = word_after(line, "block ");
            in_parameters_ = !line.ends_with(':');
        } else if (line.starts_with("DebugLine(")) {
            const std::vector<Text> parts = parts_of(line);
            if (parts.size() < 2) return;
            file_ = parts[0];
            line_ = number(parts[1]);
        } else if (!body_->blocks.empty() && line != "{") {
            Instruction made = instruction(line);
            note_value(made);
            body_->blocks.back().instructions.push_back(std::move(made));
        }
    }

    void read_parameter(Text line) {
        if (!line.starts_with("param ")) return;
        in_parameters_ = !line.ends_with("):");
        line.remove_suffix(in_parameters_ ? (line.ends_with(',') ? 1 : 0) : 2);
        const std::size_t colon = line.find(": ");
        if (body_ == nullptr || body_->blocks.empty() || colon == Text::npos) return;
        const Text id = word_after(line, "param ");
        body_->blocks.back().parameters.push_back({id, trimmed(line.substr(colon + 2))});
        if (!name_.empty()) module_.names[id] = name_;
        name_ = {};
    }

    Instruction instruction(Text line) {
        Instruction made;
        if (line.starts_with("let ")) {
            made.id = word_after(line, "let  ");
            const std::size_t colon = line.find("\t: ");
            const std::size_t equals = line.find("\t= ");
            if (colon == Text::npos || equals == Text::npos || equals < colon) return made;
            made.type = trimmed(line.substr(colon + 3, equals - colon - 3));
            line = line.substr(equals + 3);
        }
        const bool calls = line.starts_with("call ");
        if (calls) line = line.substr(5);
        const std::size_t group = calls ? last_group(line) : line.find('(');
        const Text before = trimmed(line.substr(0, group));
        made.name = calls ? Text("call") : before;
        if (calls) made.callee = before;
        if (group != Text::npos) made.operands = parts_of(line.substr(group));
        made.is_no_diff = no_diff_;
        made.file = file_;
        made.line = line_;
        return made;
    }

    void note_value(const Instruction& made) {
        if (made.id.empty()) return;
        if (!name_.empty()) module_.names[made.id] = name_;
        const Text first = made.operands.empty() ? Text() : made.operands[0];
        if (made.name == "key" && has_derivative_) module_.keys.insert(made.id);
        if (made.name == "DebugSource") module_.sources[made.id] = quoted(first);
        if (made.name == "lookupWitness" && made.operands.size() > 1) {
            module_.witnesses[made.id] = made.operands[1];
            module_.types[made.id] = made.type;
        }
        if (made.name == "BackwardDifferentiatePrimal" || made.name == "ForwardDifferentiate") {
            module_.differentiated.insert(head_of(first));
        }
        if (made.name == "TrivialForwardDifferentiate") opaque_[made.id] = head_of(first);
    }

    Module module_;
    Function* body_ = nullptr;  ///< the last of the functions, while its lines come
    std::vector<Text> generics_;
    bool in_parameters_ = false;
    std::map<Text, Text> forward_;  ///< derivatives by functions
    std::map<Text, Text> opaque_;   ///< functions by what Slang takes for their forward derivatives
    Text name_;                     ///< decorations of the next line
    bool no_diff_ = false;
    bool has_derivative_ = false;
    Text file_;
    std::int64_t line_ = 0;
};

}  // namespace

Module parse(Text text) { return Parser().run(text); }

Text head_of(Text callee) {
    while (callee.starts_with("specialize(")) {
        const std::vector<Text> parts = parts_of(callee);
        if (parts.empty()) break;
        callee = parts.front();
    }
    return callee;
}

std::vector<Text> parts_of(Text text) {
    std::vector<Text> parts;
    const std::size_t open = text.find('(');
    if (open == Text::npos) return parts;
    int depth = 0;
    bool in_quotes = false;
    std::size_t begin = open + 1;
    for (std::size_t at = open; at < text.size(); ++at) {
        const char c = text[at];
        in_quotes = c == '"' ? !in_quotes : in_quotes;
        if (in_quotes) continue;
        depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
        if ((c == ',' && depth == 1) || depth == 0) {
            const Text part = trimmed(text.substr(begin, at - begin));
            if (!part.empty()) parts.push_back(part);
            begin = at + 1;
        }
        if (depth == 0) break;
    }
    return parts;
}

}  // namespace kf::gen::ir
