// The file system that Slang reads imported modules from.
#pragma once

#include <slang.h>

#include <string>

#include "slang/com_ptr.h"

namespace kf::gen {

/// The files on disk, each passed through `change`.
ComPtr<ISlangFileSystemExt> changed_source_files(std::string (*change)(std::string_view text));

}  // namespace kf::gen
