// Replaces names of types and components in CUDA code, word by word.
#include "slang/cuda_integers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "slang/compiler.h"
#include "slang/cuda_words.h"
#include "slang_templates.h"

namespace kf::gen {

namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

/// Faults of the prelude: halves are rounded to even numbers, an unsigned number has no sign, and neither has
/// the least of two. A newer prelude may have them right.
constexpr std::array<Replacement, 7> corrections{{
    {"return ::roundf(f);", "return ::rintf(f);"},
    {"return ::round(f);", "return ::rint(f);"},
    {"    if ((int32_t)v < 0)\n        v = ~v;\n    if (v == 0)\n        return ~0u;\n    return 31 - "
     "__clz(v);",
     "    return v == 0 ? ~0u : 31 - __clz(v);"},
    {"return U32_firstbithigh(uint32_t(v));", "return U32_firstbithigh(uint32_t(v < 0 ? ~v : v));"},
    {" int64_t U64_abs(uint64_t", " uint64_t U64_abs(uint64_t"},
    {" int64_t U64_min(uint64_t", " uint64_t U64_min(uint64_t"},
    {" int64_t U64_max(uint64_t", " uint64_t U64_max(uint64_t"},
}};

/// Functions that a prelude may lack, of a type (T), its unsigned one (U) and its bits (B).
constexpr std::array<Replacement, 8> functions{{
    {"_min", "T $(T a, T b) { return b < a ? b : a; }"},
    {"_max", "T $(T a, T b) { return a < b ? b : a; }"},
    {"_abs", "T $(T a) { return a < T(0) ? -a : a; }"},
    {"_fma", "T $(T a, T b, T c) { return a * b + c; }"},
    {"_sign", "int $(T a) { return int(a > T(0)) - int(a < T(0)); }"},
    {"_firstbitlow", "uint32_t $(T a) { return U32_firstbitlow(uint32_t(U(a))); }"},
    {"_firstbithigh", "uint32_t $(T a) { return I32_firstbithigh(int32_t(a)); }"},
    {"_reversebits", "T $(T a) { return T(U32_reversebits(uint32_t(U(a))) >> (32 - B)); }"},
}};

struct NumberType {
    std::string_view name;  ///< that functions' names begin with
    std::string_view type;
    std::string_view unsigned_type;
    std::string_view bits;
};
constexpr std::array<NumberType, 8> number_types{{
    {"I8", "kf_char", "kf_uchar", "8"},
    {"U8", "kf_uchar", "kf_uchar", "8"},
    {"I16", "kf_short", "kf_ushort", "16"},
    {"U16", "kf_ushort", "kf_ushort", "16"},
    {"I32", "int32_t", "uint32_t", "32"},
    {"U32", "uint32_t", "uint32_t", "32"},
    {"I64", "int64_t", "uint64_t", "64"},
    {"U64", "uint64_t", "uint64_t", "64"},
}};

constexpr std::array<Replacement, 8> scalars{{
    {"char", "kf_char"},
    {"int8_t", "kf_char"},
    {"uchar", "kf_uchar"},
    {"uint8_t", "kf_uchar"},
    {"short", "kf_short"},
    {"int16_t", "kf_short"},
    {"ushort", "kf_ushort"},
    {"uint16_t", "kf_ushort"},
}};

/// Where the bracket that ends at `end` begins; npos if it doesn't.
std::size_t begin_of_bracket(std::string_view text, std::size_t end) {
    int depth = 0;
    for (std::size_t at = end; at-- > 0;) {
        if (text[at] == ')' || text[at] == ']') ++depth;
        if ((text[at] == '(' || text[at] == '[') && --depth == 0) return at;
    }
    return std::string_view::npos;
}

/// Where the operand that ends at `end` begins: names, calls, indices and members.
std::size_t begin_of_operand(std::string_view text, std::size_t end) {
    std::size_t at = end;
    for (;;) {
        while (at > 0 && (text[at - 1] == ')' || text[at - 1] == ']')) {
            const std::size_t open = begin_of_bracket(text, at);
            if (open == std::string_view::npos) return open;
            at = open;
        }
        // The arguments of a template, as in slang_bit_cast<short2>(a).
        if (at > 0 && text[at - 1] == '>' && at != end && (at < 2 || text[at - 2] != '-')) {
            const std::size_t open = text.rfind('<', at - 1);
            if (open == std::string_view::npos) return open;
            at = open;
        }
        while (at > 0 && is_of_word(text[at - 1])) --at;
        if (at > 1 && text.substr(at - 2, 2) == "->") {
            at -= 2;
        } else if (at > 0 && text[at - 1] == '.') {
            --at;
        } else {
            return at;
        }
    }
}

/// Names the vectors' components that `text` ends with.
void name_component(std::string& text, std::size_t member) {
    const std::size_t begin = begin_of_operand(text, member);
    if (begin == std::string::npos || begin == member) return;
    const std::string_view operand = std::string_view(text).substr(begin, member - begin);
    // Numbers of threads and groups aren't variables.
    if (operand == "threadIdx" || operand == "blockIdx" || operand == "blockDim" || operand == "gridDim")
        return;
    text.insert(begin, "kf_part(");
    text += ')';
}

bool is_small_vector(std::string_view word) {
    return !word.empty() && word.back() >= '2' && word.back() <= '4' &&
           std::any_of(scalars.begin(), scalars.end(),
                       [&](const Replacement& one) { return one.first == word.substr(0, word.size() - 1); });
}

template <class Visit>
void each_word(std::string_view code, Visit visit) {
    for (std::size_t at = 0; at < code.size();) {
        std::size_t end = at;
        while (end < code.size() && is_of_word(code[end])) ++end;
        if (end == at) ++end;
        visit(code.substr(at, end - at));
        at = end;
    }
}

}  // namespace

std::string complete_numbers(std::string prelude) {
    for (const auto& [wrong, right] : corrections) {
        for (std::size_t at = prelude.find(wrong); at != std::string::npos;
             at = prelude.find(wrong, at + right.size()))
            prelude.replace(at, wrong.size(), right);
    }
    prelude += '\n';
    prelude += templates::cuda_prelude_end_cuh;
    for (const NumberType& number : number_types) {
        for (const auto& [suffix, text] : functions) {
            const std::string name = std::string(number.name).append(suffix);
            if (prelude.find(name + "(") != std::string::npos) continue;
            prelude += "__device__ __forceinline__ ";
            each_word(text, [&](std::string_view word) {
                prelude += word == "T"   ? number.type
                           : word == "U" ? number.unsigned_type
                           : word == "B" ? number.bits
                           : word == "$" ? std::string_view(name)
                                         : word;
            });
            prelude += '\n';
        }
    }
    return prelude;
}

std::string settle_precise(std::string code) {
    constexpr std::string_view word = "precise ";
    bool is_exact = false;
    for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at)) {
        if (at > 0 && is_of_word(code[at - 1])) {
            at += word.size();
            continue;
        }
        code.erase(at, word.size());
        is_exact = true;
    }
    if (is_exact) code += cuda_exact;
    return code;
}

std::string wrap_small_integers(std::string_view code) {
    bool has_small = false;
    bool has_vectors = false;
    const auto replacement = [](std::string_view word) {
        return std::find_if(scalars.begin(), scalars.end(),
                            [&](const Replacement& one) { return one.first == word; });
    };
    each_word(code, [&](std::string_view word) {
        has_small |= replacement(word) != scalars.end();
        has_vectors |= is_small_vector(word);
    });
    if (!has_small && !has_vectors) return std::string(code);
    std::string result;
    each_word(code, [&](std::string_view word) {
        // The rows of matrices are CUDA's vectors.
        const bool is_of_matrix = result.ends_with("Matrix<");
        // Modules' own CUDA code may say so; Slang writes uchar and ushort.
        const bool is_theirs = result.ends_with("signed ");
        if (const auto* found = replacement(word); found != scalars.end() && !is_of_matrix && !is_theirs) {
            result += found->second;
            return;
        }
        if (word == "_slang_vector_get_element") {
            result += "kf_element";
            return;
        }
        const std::size_t before = result.size();
        result += word;
        if (!has_vectors || word.size() != 1 || std::string_view("xyzw").find(word) == std::string_view::npos)
            return;
        if (before > 0 && result[before - 1] == '.') {
            name_component(result, before - 1);
        } else if (before > 1 && std::string_view(result).substr(before - 2, 2) == "->") {
            name_component(result, before - 2);
        }
    });
    return result;
}

}  // namespace kf::gen
