// The Slang modules that kfgen carries with it.
#include "run/support.h"

#include "support_text.h"

namespace kf::gen {

std::vector<std::pair<std::string, std::string>> support_modules() {
    return {{"kf", std::string(embedded::kf_slang)}};
}

}  // namespace kf::gen
