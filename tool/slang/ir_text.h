// A module's code as Slang prints it: functions of blocks of instructions, in SSA form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kf::gen::ir {

/// All refer to the text that they were read from.
using Text = std::string_view;

struct Instruction {
    Text id;      ///< "%12"; empty: it has no value
    Text type;    ///< of its value: "Ptr(Float)"
    Text name;    ///< "load", "call", "return_val"
    Text callee;  ///< of calls: "%f", "specialize(%f, Float)"
    std::vector<Text> operands;
    bool is_no_diff = false;  ///< of calls: by the source, or since nothing that goes in has a derivative
    Text file;                ///< the id of a DebugSource, where the module has debug information
    std::int64_t line = 0;
};

struct BlockParameter {
    Text id, type;
};

struct Block {
    Text id;
    std::vector<BlockParameter> parameters;
    std::vector<Instruction> instructions;
};

struct Function {
    Text id;
    Text type;                  ///< "Func(Void, Float, OutParam(Float))": the result, then the parameters
    Text generic;               ///< that it is the value of; empty: of none
    std::vector<Block> blocks;  ///< none: it is declared only
};

struct Module {
    std::vector<Function> functions;
    std::map<Text, Text> names;      ///< as the source has them: "mk", "Ray.advance"
    std::map<Text, Text> sources;    ///< paths, by the ids of DebugSources
    std::map<Text, Text> generics;   ///< what each gives: a function
    std::map<Text, Text> witnesses;  ///< requirements, by the ids of what was looked up
    std::map<Text, Text> types;      ///< of what was looked up
    std::set<Text> annotated;        ///< types and functions that have derivatives
    std::set<Text> forward;          ///< functions that have a forward derivative, where they are used so
    std::set<Text> backward;         ///< the same for a backward one
    std::set<Text> differentiated;   ///< functions whose own code is differentiated
    std::set<Text> opaque;           ///< [TreatAsDifferentiable] functions without a forward derivative
    std::set<Text> keys;             ///< fields that have derivatives

    /// Whether the function's code is here, and is differentiated.
    [[nodiscard]] bool is_differentiated(const Function& function) const {
        return !function.blocks.empty() &&
               (differentiated.contains(function.id) ||
                (!function.generic.empty() && differentiated.contains(function.generic)));
    }
};

/// What isn't understood is left out.
Module parse(Text text);

/// "%f" of "specialize(%f, Float)", and so on inwards.
Text head_of(Text callee);
/// What is between the outermost parentheses, at the commas there: of "Func(Void, Vec(Float, 3 : Int))" two.
std::vector<Text> parts_of(Text text);

}  // namespace kf::gen::ir
