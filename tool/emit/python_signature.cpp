// Merging of overloads that overlap.
#include "emit/python_signature.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

namespace kf::gen {
namespace {

/// An object may be a vector and a struct that has fields x and y.
std::vector<PythonTypes> input_types(const PythonSignature& signature) {
    std::vector<PythonTypes> types;
    for (const PythonParameter& parameter : signature.parameters) {
        if (parameter.output) continue;
        constexpr PythonTypes objects = python_struct | python_components;
        const bool object = (parameter.types & objects) != 0;
        types.push_back(object ? static_cast<PythonTypes>(parameter.types | objects) : parameter.types);
    }
    return types;
}

}  // namespace

bool overlap(const PythonSignature& a, const PythonSignature& b) {
    const std::vector<PythonTypes> left = input_types(a);
    const std::vector<PythonTypes> right = input_types(b);
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](PythonTypes x, PythonTypes y) { return (x & y) != 0; });
}

bool narrower(const PythonSignature& a, const PythonSignature& b) {
    const std::vector<PythonTypes> left = input_types(a);
    const std::vector<PythonTypes> right = input_types(b);
    return left != right && std::equal(left.begin(), left.end(), right.begin(), right.end(),
                                       [](PythonTypes x, PythonTypes y) { return (x & ~y) == 0; });
}

namespace {

/// A checker lets `a` stand where `b` is due. It does so with int for float too, but not in overloads.
bool is_subtype(const std::set<std::string>& a, const std::set<std::string>& b) {
    return std::all_of(a.begin(), a.end(), [&](const std::string& type) {
        return b.contains(type) || (type == "bool" && (b.contains("int") || b.contains("float")));
    });
}

/// Leaves out what another type of the union takes in.
void simplify(std::set<std::string>& results) {
    if (results.contains("float")) results.erase("int");
    if (results.contains("float") || results.contains("int")) results.erase("bool");
}

bool may_stand_together(const PythonSignature& a, const PythonSignature& b) {
    if (!overlap(a, b)) return true;
    if (narrower(a, b)) return is_subtype(a.results, b.results);
    if (narrower(b, a)) return is_subtype(b.results, a.results);
    return false;
}

PythonSignature merge(const PythonSignature& a, const PythonSignature& b) {
    PythonSignature both = a;
    // Overloads of one function have the same parameters; should they not, places and inputs are what counts.
    if (a.parameters.size() != b.parameters.size())
        std::erase_if(both.parameters, [](const PythonParameter& parameter) { return parameter.output; });
    std::size_t at = 0;
    for (PythonParameter& parameter : both.parameters) {
        while (at < b.parameters.size() && b.parameters[at].output != parameter.output) ++at;
        if (at == b.parameters.size()) break;
        parameter.types |= b.parameters[at].types;
        parameter.structs.insert(b.parameters[at].structs.begin(), b.parameters[at].structs.end());
        parameter.names.insert(b.parameters[at].names.begin(), b.parameters[at].names.end());
        if (parameter.name != b.parameters[at].name) parameter.name.clear();
        ++at;
    }
    both.given_result |= b.given_result;
    both.takes_shape = a.takes_shape || b.takes_shape;
    both.results.insert(b.results.begin(), b.results.end());
    simplify(both.results);
    both.calls.insert(both.calls.end(), b.calls.begin(), b.calls.end());
    std::sort(both.calls.begin(), both.calls.end());
    return both;
}

/// `a` for those arguments only that `b` doesn't take; nothing when there are none.
std::optional<PythonSignature> without(const PythonSignature& a, const PythonSignature& b) {
    PythonSignature rest = a;
    const std::vector<PythonTypes> others = input_types(b);
    std::size_t at = 0;
    bool differs = false;
    for (PythonParameter& parameter : rest.parameters) {
        if (parameter.output) continue;
        const auto types = static_cast<PythonTypes>(parameter.types & ~others[at++]);
        constexpr PythonTypes tensors = python_tensor | python_diff_tensor;
        if ((types & python_tensor) == 0 || (types & ~tensors) != 0)
            continue;  // what is left of numbers has no name
        parameter.types = python_tensor;
        differs = true;
    }
    return differs ? std::optional(rest) : std::nullopt;
}

/// Whether `a` says nothing that `b` doesn't.
bool is_part_of(const PythonSignature& a, const PythonSignature& b) {
    const auto is_same_elsewhere = [](const PythonParameter& x, const PythonParameter& y) {
        return x.name == y.name && x.output == y.output && (!x.output || x.types == y.types);
    };
    return narrower(a, b) && a.results == b.results && a.given_result == b.given_result &&
           a.takes_shape == b.takes_shape &&
           std::ranges::equal(a.parameters, b.parameters, is_same_elsewhere);
}

std::size_t width(const PythonSignature& signature) {
    std::size_t bits = 0;
    for (const PythonTypes types : input_types(signature))
        bits += static_cast<std::size_t>(std::popcount(types));
    return bits;
}

constexpr std::string_view tensor_variable = "_Tensor";

/// Where it stands as a word of its own: a class may be called _TensorsResult.
std::size_t next_tensor(const std::string& text, std::size_t from) {
    const auto in_word = [&](std::size_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (auto at = text.find(tensor_variable, from); at != std::string::npos;
         at = text.find(tensor_variable, at + 1))
        if ((at == 0 || !in_word(at - 1)) && !in_word(at + tensor_variable.size())) return at;
    return std::string::npos;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

}  // namespace

std::string python_spelling(PythonTypes types, const std::set<std::string>& structs,
                            const std::set<std::string>& names) {
    std::vector<std::string> words;
    bool grad = (types & python_differentiable) != 0;
    if ((types & python_float) != 0) {
        words.emplace_back(grad ? "DiffValue" : "FloatValue");
        grad = false;
    } else if ((types & python_int) != 0) {
        words.emplace_back("IntValue");
    } else if ((types & python_bool) != 0) {
        words.emplace_back("BoolValue");
    }
    if ((types & python_name) != 0) words.insert(words.end(), names.begin(), names.end());
    if ((types & python_sequence) != 0 && (types & python_tensor) != 0)
        words.emplace_back((types & python_diff_tensor) != 0 ? "DiffTorchValue[_Tensor]"
                                                             : "TorchValue[_Tensor]");
    else if ((types & python_tensor) != 0)
        words.insert(words.end(), {"kf.Tensor", "TorchTensor[_Tensor]"});
    else if ((types & python_sequence) != 0 && !grad)
        words.emplace_back("VectorValue");
    const bool object = (types & python_struct) != 0;
    if (grad) words.emplace_back(object ? "kf.Differentiable[Any]" : "DiffVectorValue");
    if ((types & python_components) != 0) words.emplace_back("ComponentsValue");
    if (object && structs.empty()) words.emplace_back("StructValue");
    if (object) words.insert(words.end(), structs.begin(), structs.end());
    if ((types & python_writable) != 0)
        words.emplace_back((types & python_diff_tensor) != 0 ? "DiffOutValue" : "OutValue");
    if ((types & python_buffer) != 0) words.emplace_back("kf.Buffer");
    if ((types & python_sampled) != 0)
        words.emplace_back("SampledTexture");
    else if ((types & python_texture) != 0)
        words.emplace_back("kf.Texture");
    if ((types & python_sampler) != 0) words.emplace_back("kf.Sampler");
    if ((types & python_grid) != 0) words.emplace_back("kf.Grid");
    if ((types & python_range) != 0) words.emplace_back("kf.Range");
    if ((types & python_wang_hash) != 0) words.emplace_back("kf.WangHash");
    if ((types & python_rand_float) != 0) words.emplace_back("kf.RandFloat");
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " | ") + word;
    return text;
}

std::string taken_in_form(std::string spelling, TorchForm form) {
    if (form == TorchForm::some) return spelling;
    if (form == TorchForm::none) {
        replace_all(spelling, "TorchValue[_Tensor]", "TensorValue");
        replace_all(spelling, " | TorchTensor[_Tensor]", "");
    }
    replace_all(spelling, "[_Tensor]", form == TorchForm::none ? "[Never]" : "");
    return spelling;
}

bool returns_tensor(const std::string& spelling) { return next_tensor(spelling, 0) != std::string::npos; }

std::string returned_in_form(std::string spelling, TorchForm form) {
    if (form == TorchForm::some) return spelling;
    constexpr std::string_view ours = "kf.Tensor";
    for (auto at = next_tensor(spelling, 0); at != std::string::npos;
         at = next_tensor(spelling, at + ours.size()))
        spelling.replace(at, tensor_variable.size(), ours);
    return spelling;
}

std::string returned_spelling(const PythonSignature& signature) {
    std::string text;
    for (const std::string& type : signature.results) text += (text.empty() ? "" : " | ") + type;
    return text;
}

std::vector<PythonSignature> separate_overloads(std::vector<PythonSignature> signatures) {
    std::vector<PythonSignature> refined;
    for (std::size_t i = 0; i < signatures.size(); ++i) {
        for (std::size_t j = i + 1; j < signatures.size(); ++j) {
            const bool redundant =
                is_part_of(signatures[i], signatures[j]) || is_part_of(signatures[j], signatures[i]);
            if (!redundant && may_stand_together(signatures[i], signatures[j])) continue;
            PythonSignature both = merge(signatures[i], signatures[j]);
            if (signatures[i].results != signatures[j].results) {
                for (const auto& rest :
                     {without(signatures[i], signatures[j]), without(signatures[j], signatures[i])})
                    if (rest) refined.push_back(*rest);
            }
            signatures.erase(signatures.begin() + static_cast<std::ptrdiff_t>(j));
            signatures[i] = std::move(both);
            i = static_cast<std::size_t>(-1);  // what was merged may meet others: start over
            break;
        }
    }
    // Arguments that only one of the merged takes still have that one's exact result.
    for (PythonSignature& signature : refined) {
        const bool fits =
            std::all_of(signatures.begin(), signatures.end(), [&](const PythonSignature& other) {
                const bool narrow = overlap(signature, other) && narrower(signature, other);
                return !overlap(signature, other) || (narrow && is_subtype(signature.results, other.results));
            });
        if (fits) signatures.push_back(std::move(signature));
    }
    std::stable_sort(signatures.begin(), signatures.end(),
                     [](const PythonSignature& a, const PythonSignature& b) { return width(a) < width(b); });
    return signatures;
}

}  // namespace kf::gen
