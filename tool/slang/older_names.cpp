// The names, and what stands for them here.
#include "slang/older_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kf::gen {

namespace {

using Names = std::pair<std::string_view, std::string_view>;

/// Types that no module has, and what does instead.
constexpr std::array<Names, 2> types{{{"RWGradTensor", "RWDiffTensor"}, {"ValueRef", "Tensor"}}};

/// Types of SlangPy's earlier releases, which the module slangpy has.
constexpr std::array<std::string_view, 5> older{"NDBuffer", "RWNDBuffer", "GradInTensor", "GradOutTensor",
                                                "GradInOutTensor"};

constexpr std::array<Names, 9> members{{{"getv", "load(index), or t[index]"},
                                        {"get", "load(i, j), or t[i, j]"},
                                        {"setv", "store(index, value), or t[index] = value"},
                                        {"set", "store(i, j, value), or t[i, j] = value"},
                                        {"primal", "_primal"},
                                        {"d_in", "_grad_in"},
                                        {"d_out", "_grad_out"},
                                        {"diff", "_grad_out.add(index, value), or _grad_in.load(index)"},
                                        {"InterlockedAdd", "add(index, value), of an AtomicTensor"}}};

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

std::string_view without_generics(std::string_view type) { return type.substr(0, type.find_first_of("<[ ")); }

}  // namespace

bool is_foreign_tensor(std::string_view type) {
    const std::string_view name = without_generics(type);
    return name == "TensorView" || name == "DiffTensorView" || name == "TorchTensor" ||
           std::find(older.begin(), older.end(), name) != older.end() || !find(types, name).empty();
}

std::string tensor_cure(std::string_view type) {
    const std::string_view name = without_generics(type);
    if (name == "TorchTensor")
        return "slang-torch runs such a function on the host: name the one that it dispatches, which takes a "
               "TensorView, and give that a tensor";
    if (name == "DiffTensorView")
        return "kfgen adds gradients up itself: write 'DiffTensorView<float>', whose gradient the tensor "
               "has, without a second argument";
    const std::size_t begin = type.find('<');
    const std::string_view arguments = begin == std::string_view::npos
                                           ? std::string_view()
                                           : type.substr(begin + 1, type.size() - begin - 2);
    const std::string element =
        arguments.empty() ? "float" : std::string(arguments.substr(0, arguments.find(',')));
    const std::string_view instead = find(types, name);
    return "write '" + std::string(instead.empty() ? "Tensor" : instead) + "<" + element +
           ", N>' for a tensor of N dimensions, with 'import kf;'";
}

Diagnostic with_tensor_names(Diagnostic error) {
    const std::string name(in_quotes(error.message, 0));
    std::string cure;
    if (error.id == "slang-E30015") {
        const std::string tensor(find(types, name));
        if (!tensor.empty()) {
            cure = "write '" + tensor + "', with 'import kf;'";
        } else if (std::find(older.begin(), older.end(), name) != older.end()) {
            cure = "it is a type of earlier releases of SlangPy: write 'import slangpy;'";
        } else if (std::find(own.begin(), own.end(), name) != own.end()) {
            cure = "it is a type of the module kf: write 'import kf;'";
        }
    } else if (error.id == "slang-E30027") {
        const std::string_view owner = without_generics(in_quotes(error.message, 1));
        const bool tensor = owner.find("Tensor") != std::string_view::npos && !owner.ends_with("View");
        const std::string_view instead = tensor ? find(members, name) : std::string_view();
        if (!instead.empty()) {
            cure = "write t." + std::string(instead);
            if (name != "diff" && name != "InterlockedAdd")
                cure += "; with 'import slangpy;' it is a member, too";
        }
    }
    if (cure.empty()) return error;
    std::erase_if(error.notes,
                  [](const std::string& note) { return note.find("did you mean") != std::string::npos; });
    error.notes.insert(error.notes.begin(), cure);
    return error;
}

}  // namespace kf::gen
