// The help's text about each command, beside its options.
#include "cli/commands.h"

namespace kf::gen {

std::vector<CommandPage> command_texts() {
    return {
        {"init",
         {"init MODULE.slang [-o FILE] [OPTION ...]"},
         "write a spec to start from",
         "Writes NAME.kf.json beside the module: every function that can be called, with kinds by the "
         "types of its parameters, and gradients where it is differentiable. Comments in it say what can't "
         "be called, and why. The spec generates as it stands.",
         {".slang"},
         {},
         {}},
        {"generate",
         {"generate SPEC -o DIR [OPTION ...]"},
         "write kernels and wrappers",
         "Writes NAME.h, NAME.cpp, NAME.kfa and a depfile, NAME.d, into DIR, and further files that options "
         "ask "
         "for: those alone whose content changed, and none when something is wrong.",
         {".kf.json"},
         {},
         {}},
        {"check",
         {"check SPEC [OPTION ...]", "check SPEC|FILE.kfa --against OLD.kfa|OLD.kf.json [OPTION ...]",
          "check SPEC|FILE.kfa --gradients [OPTION ...]"},
         "check a spec, its interface or its gradients; write nothing",
         "Does all that generate does, and writes nothing.\n"
         "With --against it compares the interface with an earlier one, and reports what changed and what of "
         "that breaks callers. The exit code is 1 when something does. Nothing is compiled for that.\n"
         "With --gradients it runs every backward kernel on a device, with random inputs, and compares each "
         "input's gradient with differences of the forward kernel's results; forward derivatives likewise. "
         "It reports which inputs have gradients and which don't, and why. The exit code is 1 when a "
         "gradient "
         "is wrong or could not be compared, or a call could not be run.",
         {".kf.json", ".kfa"},
         {},
         {}},
        {"list",
         {"list SPEC [OPTION ...]"},
         "print calls, overloads and kernels",
         "Prints the spec's functions, their overloads and the kernels of each. Nothing is compiled for "
         "that.",
         {".kf.json"},
         {},
         {}},
        {"explain",
         {"explain SPEC FUNCTION [OPTION ...]"},
         "show what compilers make of a function's kernels",
         "Compiles the function's kernels and prints, for each of them, its threads, the device "
         "features that it needs, the layout of its arguments, and of CUDA kernels registers, spills "
         "and shared memory, as NVRTC tells them; then the Slang that kfgen wrote, and the SPIR-V or "
         "CUDA source that Slang made of it. kfgen list prints functions and kernels.",
         {".kf.json"},
         {},
         {}},
        {"inspect",
         {"inspect FILE.kfa [--extract DIR]"},
         "verify an artifact and print what it holds",
         "Verifies an artifact and prints its functions, their overloads, kernels and kernel images. With "
         "--extract it writes the images into files instead: KERNEL.spv, KERNEL.sm_90.cubin, "
         "KERNEL.sm_90.ptx.",
         {".kfa"},
         {},
         {}},
        {"completion",
         {"completion bash|zsh|fish"},
         "print a script that completes kfgen's arguments in a shell",
         "Prints a script that completes commands, options and files. For bash put `source <(kfgen "
         "completion bash)` into ~/.bashrc; for zsh likewise, below compinit; for fish `kfgen completion "
         "fish "
         "| source` into config.fish.",
         {},
         {"bash", "zsh", "fish"},
         {}},
    };
}

}  // namespace kf::gen
