// Which streams have used a piece of memory.
#include "cuda/hazards.h"

#include <algorithm>

namespace kf::cuda {

bool Hazards::is_reader(const Stream* stream) const {
    return std::any_of(readers_.begin(), readers_.end(),
                       [stream](const auto& reader) { return reader.get() == stream; });
}

void Hazards::after(const std::shared_ptr<Stream>& stream, bool writes) {
    if (writes) {
        // Mostly the writer stays the same, and comparing is faster than counting its owners.
        if (writer_ != stream) writer_ = stream;
        readers_.clear();
    } else if (writer_ != stream && !is_reader(stream.get())) {
        readers_.push_back(stream);
    }
}

}  // namespace kf::cuda
