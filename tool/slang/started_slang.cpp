// Slang's global session, which holds its core module.
#include "slang/started_slang.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "slang/compiler.h"
#include "slang/cuda_integers.h"
#include "slang/exact_optimiser.h"
#include "slang_templates.h"

namespace kf::gen {

namespace {

/// Gives Slang's CUDA prelude what kernels' code calls and what compares indices, and ends it with a line
/// that can be found again.
void complete_cuda_prelude(slang::IGlobalSession& global) {
    ComPtr<slang::IBlob> prelude;
    global.getLanguagePrelude(SLANG_SOURCE_LANGUAGE_CUDA, prelude.out());
    std::string text(templates::cuda_prelude_begin_cuh);
    if (prelude) text.append(static_cast<const char*>(prelude->getBufferPointer()), prelude->getBufferSize());
    text = complete_numbers(std::move(text)) + "\n" + std::string(cuda_prelude_end);
    global.setLanguagePrelude(SLANG_SOURCE_LANGUAGE_CUDA, text.c_str());
}

}  // namespace

StartedSlang::StartedSlang() {
    if (SLANG_FAILED(slang::createGlobalSession(global_.out())))
        throw std::runtime_error("it could not be started");
    keep_floats_exact(global());
    complete_cuda_prelude(global());
}

std::shared_ptr<StartedSlang> start_slang() { return std::make_shared<StartedSlang>(); }

}  // namespace kf::gen
