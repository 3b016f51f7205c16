// Has each workaround change a text.
#include "slang/gradient_texts.h"

namespace kf::gen {

std::string keep_gradients(std::string_view text, const Workarounds& workarounds) {
    ModuleText module{std::string(text)};
    for (const Workaround* workaround : workarounds) {
        if (workaround->change_text != nullptr) workaround->change_text(module);
    }
    return module.changed();
}

Diagnostics unprotected_warnings(const Diagnostics& refused) {
    Diagnostics warnings;
    for (const Diagnostic& error : refused) {
        // Lines are those of the changed text.
        warnings.push_back(
            {Severity::warning,
             "gradient-unprotected",
             {error.location.file, 0, 0},
             "Slang refuses a module with what kfgen puts into its differentiable functions, so "
             "these are compiled as they are, and some of their gradients may be wrong: " +
                 error.message,
             {"kfgen check --gradients compares gradients with differences"}});
    }
    return warnings;
}

}  // namespace kf::gen
