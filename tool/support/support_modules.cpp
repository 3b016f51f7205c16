// The Slang modules that kfgen carries with it.
#include "support/support_modules.h"

#include "support_compiled.h"
#include "support_text.h"

namespace kf::gen {

std::vector<SupportModule> support_modules() {
    // Every kernel imports the first. Shaders written for SlangPy import its module.
    return {{"kf_kernel", std::string(embedded::kf_kernel_slang), embedded::kf_kernel_slang_module()},
            {"kf_exact", std::string(embedded::kf_exact_slang), embedded::kf_exact_slang_module()},
            {"kf_gathers", std::string(embedded::kf_gathers_slang), embedded::kf_gathers_slang_module()},
            {"kf_integers", std::string(embedded::kf_integers_slang), embedded::kf_integers_slang_module()},
            {"kf_own", std::string(embedded::kf_own_slang), embedded::kf_own_slang_module()},
            {"kf_runs", std::string(embedded::kf_runs_slang), embedded::kf_runs_slang_module()},
            {"kf_launch", std::string(embedded::kf_launch_slang), embedded::kf_launch_slang_module()},
            {"kf_records", std::string(embedded::kf_records_slang), embedded::kf_records_slang_module()},
            {"kf_reports", std::string(embedded::kf_reports_slang), embedded::kf_reports_slang_module()},
            {"kf_rows", std::string(embedded::kf_rows_slang), embedded::kf_rows_slang_module()},
            {"kf_buffers", std::string(embedded::kf_buffers_slang), embedded::kf_buffers_slang_module()},
            {"kf_texels", std::string(embedded::kf_texels_slang), embedded::kf_texels_slang_module()},
            {"kf_textures", std::string(embedded::kf_textures_slang), embedded::kf_textures_slang_module()},
            {"kf", std::string(embedded::kf_slang), embedded::kf_slang_module()},
            {"kf_views", std::string(embedded::kf_views_slang), embedded::kf_views_slang_module()},
            {"kf_diff_textures", std::string(embedded::kf_diff_textures_slang),
             embedded::kf_diff_textures_slang_module()},
            {"slangpy", std::string(embedded::slangpy_slang), embedded::slangpy_slang_module()}};
}

}  // namespace kf::gen
