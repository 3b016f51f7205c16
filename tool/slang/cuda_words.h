// Words of CUDA code.
#pragma once

namespace kf::gen {

inline bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace kf::gen
