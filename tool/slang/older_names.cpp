// The names, and what stands for them here.
#include "slang/older_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kf::gen {

namespace {

using Names = std::pair<std::string_view, std::string_view>;

constexpr std::array<Names, 10> types{{{"NDBuffer", "Tensor"},
                                       {"RWNDBuffer", "RWTensor"},
                                       {"TensorView", "Tensor"},
                                       {"DiffTensorView", "DiffTensor"},
                                       {"TorchTensor", "Tensor"},
                                       {"GradInTensor", "WDiffTensor"},
                                       {"GradOutTensor", "DiffTensor"},
                                       {"GradInOutTensor", "RWDiffTensor"},
                                       {"RWGradTensor", "RWDiffTensor"},
                                       {"ValueRef", "Tensor"}}};

constexpr std::array<Names, 6> members{{{"getv", "load(index), or t[index]"},
                                        {"get", "load(i, j), or t[i, j]"},
                                        {"setv", "store(index, value), or t[index] = value"},
                                        {"set", "store(i, j, value), or t[i, j] = value"},
                                        {"primal", "_primal"},
                                        {"diff", "_grad_out.add(index, value), or _grad_in.load(index)"}}};

/// What kf.slang has.
constexpr std::array<std::string_view, 9> own{"Tensor",      "WTensor",      "RWTensor",
                                              "DiffTensor",  "WDiffTensor",  "RWDiffTensor",
                                              "IDiffTensor", "AtomicTensor", "ITensor"};

template <class List>
std::string_view find(const List& names, std::string_view name) {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const Names& one) { return one.first == name; });
    return found == names.end() ? std::string_view() : found->second;
}

/// "b" of "a 'b' c 'd'"; `which`: of the quoted texts, from 0.
std::string_view in_quotes(std::string_view text, int which) {
    for (; which >= 0; --which) {
        const std::size_t begin = text.find('\'');
        const std::size_t end = begin == std::string_view::npos ? begin : text.find('\'', begin + 1);
        if (end == std::string_view::npos) return {};
        if (which == 0) return text.substr(begin + 1, end - begin - 1);
        text.remove_prefix(end + 1);
    }
    return {};
}

/// What does for a tensor that is written.
std::string written_instead(std::string_view type, std::string_view tensor) {
    if (type.starts_with("Grad")) return {};
    return tensor == "Tensor"       ? ", or 'RWTensor' where it is written"
           : tensor == "DiffTensor" ? ", or 'WDiffTensor' where it is written"
                                    : "";
}

std::string_view without_generics(std::string_view type) { return type.substr(0, type.find_first_of("<[ ")); }

}  // namespace

std::string tensor_instead_of(std::string_view type) {
    return std::string(find(types, without_generics(type)));
}

std::string tensor_cure(std::string_view type) {
    const std::string tensor = tensor_instead_of(type);
    const std::size_t begin = type.find('<');
    const std::string_view arguments = begin == std::string_view::npos
                                           ? std::string_view()
                                           : type.substr(begin + 1, type.size() - begin - 2);
    const std::string element =
        arguments.empty() ? "float" : std::string(arguments.substr(0, arguments.find(',')));
    return "write '" + tensor + "<" + element + ", N>' for a tensor of N dimensions, with 'import kf;'" +
           written_instead(type, tensor);
}

Diagnostic with_tensor_names(Diagnostic error) {
    const std::string name(in_quotes(error.message, 0));
    std::string cure;
    if (error.id == "slang-E30015") {
        const std::string tensor = tensor_instead_of(name);
        if (!tensor.empty()) {
            cure = "write '" + tensor + "', with 'import kf;'" + written_instead(name, tensor);
        } else if (std::find(own.begin(), own.end(), name) != own.end()) {
            cure = "it is a type of the module kf: write 'import kf;'";
        }
    } else if (error.id == "slang-E30027") {
        const std::string_view owner = without_generics(in_quotes(error.message, 1));
        const bool tensor = owner.find("Tensor") != std::string_view::npos;
        const std::string_view instead = tensor ? find(members, name) : std::string_view();
        if (!instead.empty()) cure = "write t." + std::string(instead);
    }
    if (cure.empty()) return error;
    std::erase_if(error.notes,
                  [](const std::string& note) { return note.find("did you mean") != std::string::npos; });
    error.notes.insert(error.notes.begin(), cure);
    return error;
}

}  // namespace kf::gen
