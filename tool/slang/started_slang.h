// Slang's global session, which holds its core module.
#pragma once

#include <slang.h>

#include "slang/com_ptr.h"

namespace kf::gen {

class StartedSlang {
public:
    /// Throws std::runtime_error where there is no session to be had.
    StartedSlang();

    [[nodiscard]] slang::IGlobalSession& global() const { return *global_.get(); }

private:
    ComPtr<slang::IGlobalSession> global_;
};

}  // namespace kf::gen
