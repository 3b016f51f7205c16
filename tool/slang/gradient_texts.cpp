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

}  // namespace kf::gen
