// Which streams have used a piece of memory: who must wait for whom.
#pragma once

#include <memory>
#include <vector>

namespace kf::cuda {

class Stream;

/// The streams that one allocation was last written and read on. Guarded by its Memory's lock.
class Hazards {
public:
    /// `maker`: the stream that the memory was made on.
    explicit Hazards(std::shared_ptr<Stream> maker) : writer_(std::move(maker)) {}

    /// Calls `wait(Stream&)` for each stream that `stream` must follow before it uses the memory.
    template <class Wait>
    void before(const Stream* stream, bool writes, Wait wait) const {
        if (writer_.get() != stream && !is_reader(stream)) {
            wait(*writer_);
        }
        if (writes) {
            for (const std::shared_ptr<Stream>& reader : readers_) {
                if (reader.get() != stream) {
                    wait(*reader);
                }
            }
        }
    }
    /// Records that `stream` used the memory.
    void after(const std::shared_ptr<Stream>& stream, bool writes);

private:
    [[nodiscard]] bool is_reader(const Stream* stream) const;

    std::shared_ptr<Stream> writer_;
    std::vector<std::shared_ptr<Stream>> readers_;  ///< since then, and ordered after it; not the writer
};

}  // namespace kf::cuda
