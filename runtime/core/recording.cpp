// What becomes of what a thread does with memory while it records a graph.
#include "core/recording.h"

#include <kf/error.h>

#include <atomic>
#include <string>

#include "core/kept_call.h"

namespace kf::detail {
namespace {

std::atomic<Recording::Find>& finder() {
    static std::atomic<Recording::Find> find = nullptr;
    return find;
}

/// How many Unrecorded the thread has.
int& unrecorded() {
    thread_local int count = 0;
    return count;
}

Recording* found() {
    const Recording::Find find = finder().load(std::memory_order_relaxed);
    return find == nullptr || unrecorded() > 0 ? nullptr : find();
}

template <class Memory>
void check(const char* what, const Memory& memory) {
    Recording* const recording = found();
    if (memory.awaits_run() && recording == nullptr)
        throw ArgumentError(ErrorCode::graph_context, std::string(what) + ": " + awaits_run_text);
    if (recording == nullptr || recording->kept() == nullptr || !recording->kept()->writes(memory)) return;
    throw ArgumentError(ErrorCode::graph_context,
                        std::string(what) +
                            ": the graph that this thread is recording writes to it, and hasn't run: end its "
                            "block and replay it before");
}

}  // namespace

void Recording::set_find(Find find) { finder() = find; }

Recording* Recording::current() {
    Recording* const recording = found();
    if (recording != nullptr) recording->check_place();
    return recording;
}

Unrecorded::Unrecorded() { ++unrecorded(); }
Unrecorded::~Unrecorded() { --unrecorded(); }

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
