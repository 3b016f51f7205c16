// The Slang modules that kfgen carries with it.
#include "support/support_modules.h"

#include "support_text.h"

namespace kf::gen {

std::vector<std::pair<std::string, std::string>> support_modules() {
    // Every kernel imports the first. Shaders written for SlangPy import its module.
    return {{"kf_kernel", std::string(embedded::kf_kernel_slang)},
            {"kf_exact", std::string(embedded::kf_exact_slang)},
            {"kf_gathers", std::string(embedded::kf_gathers_slang)},
            {"kf_integers", std::string(embedded::kf_integers_slang)},
            {"kf_runs", std::string(embedded::kf_runs_slang)},
            {"kf_launch", std::string(embedded::kf_launch_slang)},
            {"kf_records", std::string(embedded::kf_records_slang)},
            {"kf_rows", std::string(embedded::kf_rows_slang)},
            {"kf", std::string(embedded::kf_slang)},
            {"kf_views", std::string(embedded::kf_views_slang)},
            {"slangpy", std::string(embedded::slangpy_slang)}};
}

}  // namespace kf::gen
