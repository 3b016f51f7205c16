// The signatures of a stub: sets of types for each parameter, merged until type checkers accept them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kf::gen {

/// A type that an argument may have, in a set: where two sets meet, a checker can't tell the overloads apart.
enum PythonType : std::uint32_t {
    python_bool = 1,
    python_int = 2,
    python_float = 4,
    python_sequence = 8,  ///< lists, tuples and NumPy arrays
    python_tensor = 16,
    python_differentiable = 32,
    python_writable = 64,  ///< what outputs are written to
    python_grid = 128,
    python_range = 256,
    python_wang_hash = 512,
    python_rand_float = 1024,
    python_struct = 2048,      ///< a dict or an object with the fields
    python_components = 4096,  ///< the same with x, y, z and w
    python_buffer = 8192,
    python_diff_tensor = 16384,  ///< a Differentiable of a tensor, or of what is written to
    python_texture = 32768,
    python_sampler = 65536,
    python_sampled = 131072,  ///< a texture with its sampler
    python_name = 262144,     ///< of an enum's member
};
using PythonTypes = std::uint32_t;

/// "FloatValue | TorchValue[_Tensor]": in the words of kernelfunctions.typing, where _Tensor is what tensors
/// of PyTorch's give. `structs`: the names of those that it takes; none: any. `names`: what names members of
/// the enums that it takes.
std::string python_spelling(PythonTypes types, const std::set<std::string>& structs = {},
                            const std::set<std::string>& names = {});

/// Which of PyTorch's tensors a definition takes: all, with results that are as they may be; none, with ours;
/// or those that its results then are, too.
enum class TorchForm : std::uint8_t { any, none, some };

/// A spelling, of a type that is taken, for the form: "TorchValue", "TensorValue", "TorchValue[_Tensor]".
std::string taken_in_form(std::string spelling, TorchForm form);

/// Whether a spelling of what is returned says _Tensor.
bool returns_tensor(const std::string& spelling);

/// A spelling of what is returned, with kf.Tensor for _Tensor where none of PyTorch's is taken.
std::string returned_in_form(std::string spelling, TorchForm form);

struct PythonParameter {
    std::string name;  ///< empty: merged from parameters of different names
    PythonTypes types = 0;
    bool output = false;                 ///< optional
    std::set<std::string> structs = {};  ///< that it takes
    std::set<std::string> names = {};    ///< of enums' members

    bool operator==(const PythonParameter&) const = default;
};

struct PythonSignature {
    std::vector<PythonParameter> parameters;  ///< in the function's order, without the result
    PythonTypes given_result = 0;             ///< what `out` takes; 0: there is none
    bool takes_shape = false;                 ///< nothing but `shape` gives the call its shape
    std::set<std::string> results;            ///< the union of types it returns
    std::vector<std::size_t> calls;           ///< the planned calls that it stands for

    bool operator==(const PythonSignature&) const = default;
};

/// Whether some arguments could belong to either.
bool overlap(const PythonSignature& a, const PythonSignature& b);

/// Whether `b` takes whatever `a` takes, and more.
bool narrower(const PythonSignature& a, const PythonSignature& b);

/// Returns the types that a signature returns, as a union: its tensors are "_Tensor".
std::string returned_spelling(const PythonSignature& signature);

/// An equivalent list that mypy and pyright accept as overloads: narrower ones first, and those that can't be
/// told apart, or whose results would contradict each other, merged into one.
std::vector<PythonSignature> separate_overloads(std::vector<PythonSignature> signatures);

}  // namespace kf::gen
