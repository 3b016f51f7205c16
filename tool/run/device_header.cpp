// Makes a device header with Slang and tries it with NVRTC.
#include "run/device_header.h"

#include <algorithm>

#include "emit/device_header.h"

namespace kf::gen {

namespace {

using Functions = std::vector<DeviceFunction>;

/// How much of NVRTC's log a message quotes.
constexpr std::size_t most_notes = 5;

Outcome<std::string> make_header(const Plan& plan, const Functions& functions, Compiler& compiler) {
    const Outcome<KernelSource> source = emit_device_kernel(plan, functions);
    if (!source) return source.errors();
    const Outcome<CompiledKernel> compiled = compiler.compile(source.value(), CodeTarget::cuda_source);
    if (!compiled) return compiled.errors();
    Outcome<std::string> header =
        emit_device_header(plan, functions, std::string(without_prelude(compiled.value().code)));
    return std::move(header).with_warnings(compiled.warnings());
}

/// Returns NVRTC's errors in a header; nothing where it compiles.
Diagnostics refused_by_cuda(const std::string& header, const CudaCompiler& cuda) {
    const std::vector<std::string> architectures = cuda.architectures();
    return architectures.empty() ? Diagnostics() : cuda.check(header, architectures.front());
}

Diagnostic code_refused(const DeviceFunction& function, const Diagnostics& log) {
    std::vector<std::string> notes;
    for (const std::string& line : log.front().notes) {
        if (notes.size() < most_notes && line.find("): error: ") != std::string::npos) notes.push_back(line);
    }
    notes.emplace_back(
        "device headers have arithmetic and the usual functions of scalars, vectors and matrices, atomics, "
        "and what reads and writes buffers: not lanes, groups or textures");
    return {Severity::error, "device-header-code", function.call->location,
            "CUDA doesn't take the code that Slang makes of '" + function.name + "' for the device header",
            notes};
}

}  // namespace

Outcome<std::string> make_device_header(const Plan& plan, Compiler& compiler, const CudaCompiler& cuda) {
    const Outcome<Functions> functions = device_functions(plan);
    if (!functions) return functions.errors();
    Outcome<std::string> header = make_header(plan, functions.value(), compiler);
    const Diagnostics refused = header ? refused_by_cuda(header.value(), cuda) : Diagnostics();
    if (header && refused.empty()) return header;
    // Functions are compiled one by one to find those at fault.
    Diagnostics errors;
    for (const DeviceFunction& function : functions.value()) {
        const Outcome<std::string> alone = make_header(plan, {function}, compiler);
        if (!alone) {
            add_distinct(errors, alone.errors());
        } else if (const Diagnostics log = refused_by_cuda(alone.value(), cuda); !log.empty()) {
            errors.push_back(code_refused(function, log));
        }
    }
    if (!errors.empty()) return errors;
    return header ? refused : header.errors();
}

}  // namespace kf::gen
