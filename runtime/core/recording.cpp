// What becomes of what a thread does with memory while it records a graph.
#include "core/recording.h"

#include <kf/error.h>

#include <string>

#include "core/kept_call.h"

namespace kf::detail {
namespace {

template <class Memory>
void check(const char* what, const Memory& memory) {
    Recording* const recording = Recording::current();
    if (recording == nullptr || recording->kept() == nullptr || !recording->kept()->writes(memory)) return;
    throw ArgumentError(ErrorCode::graph_context,
                        std::string(what) +
                            ": the graph that this thread is recording writes to it, and hasn't run: end its "
                            "block and replay it before");
}

}  // namespace

Recording*& Recording::current() {
    thread_local Recording* current = nullptr;
    return current;
}

void check_unrecorded(const char* what) {
    if (Recording::current() == nullptr) return;
    throw ArgumentError(ErrorCode::graph_context,
                        std::string(what) +
                            ": this thread is recording a graph, which replays calls and fills of tensors "
                            "without gaps, and nothing else: do it outside of the graph's block");
}

void check_read(const char* what, const driver::Allocation& memory) { check(what, memory); }

void check_read(const char* what, const driver::Image& image) { check(what, image); }

}  // namespace kf::detail
