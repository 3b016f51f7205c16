// The layouts of an image's mips and layers.
#include "vulkan/image_states.h"

#include <algorithm>

namespace kf::vulkan {

ImageStates::ImageStates(std::uint32_t mips, std::uint32_t layers, VkImageLayout layout)
    : mips_(mips), layers_(layers), states_{State{layout, false, 0}} {}

void ImageStates::split() {
    if (is_uniform()) states_.assign(std::size_t{mips_} * layers_, State{states_.front()});
}

template <class Function>
void ImageStates::each(const ImagePart& part, Function function) {
    for (std::uint32_t mip = part.first_mip; mip < part.first_mip + part.mips; ++mip) {
        for (std::uint32_t layer = part.first_layer; layer < part.first_layer + part.layers; ++layer) {
            function(states_[std::size_t{mip} * layers_ + layer]);
        }
    }
}

bool ImageStates::conflicts(const ImagePart& part, VkImageLayout layout, bool writes,
                            std::uint64_t epoch) const {
    const auto waits = [&](const State& state) {
        return state.layout != layout || (state.epoch == epoch && (writes || state.written));
    };
    if (is_uniform()) return waits(states_.front());
    for (std::uint32_t mip = part.first_mip; mip < part.first_mip + part.mips; ++mip) {
        for (std::uint32_t layer = part.first_layer; layer < part.first_layer + part.layers; ++layer) {
            if (waits(at(mip, layer))) return true;
        }
    }
    return false;
}

void ImageStates::move(const ImagePart& part, VkImageLayout layout, std::vector<Transition>& made) {
    if (is_uniform()) {
        const VkImageLayout from = states_.front().layout;
        if (from == layout) return;
        made.push_back({from, part});
    } else {
        const std::size_t first = made.size();
        for (std::uint32_t mip = part.first_mip; mip < part.first_mip + part.mips; ++mip) {
            const std::uint32_t end = part.first_layer + part.layers;
            for (std::uint32_t layer = part.first_layer; layer < end;) {
                const VkImageLayout from = at(mip, layer).layout;
                const std::uint32_t begin = layer;
                while (layer < end && at(mip, layer).layout == from) ++layer;
                if (from == layout) continue;
                // A transition of the same layers of the mip before takes this mip, too.
                const auto before =
                    std::find_if(made.begin() + static_cast<std::ptrdiff_t>(first), made.end(),
                                 [&](const Transition& one) {
                                     return one.from == from && one.part.first_mip + one.part.mips == mip &&
                                            one.part.first_layer == begin && one.part.layers == layer - begin;
                                 });
                if (before != made.end()) {
                    ++before->part.mips;
                } else {
                    made.push_back({from, {mip, 1, begin, layer - begin}});
                }
            }
        }
        if (made.size() == first) return;
    }
    if (is_whole(part)) {
        // The transition's barrier waits for all that was done before it.
        states_.assign(1, State{layout, false, 0});
        return;
    }
    split();
    each(part, [&](State& state) { state = State{layout, false, 0}; });
}

void ImageStates::note(const ImagePart& part, bool writes, std::uint64_t epoch) {
    const auto access = [&](State& state) {
        state.written = writes || (state.epoch == epoch && state.written);
        state.epoch = epoch;
    };
    if (is_uniform() && !is_whole(part)) {
        State accessed = states_.front();
        access(accessed);
        if (accessed == states_.front()) return;
        split();
    }
    if (is_uniform()) {
        access(states_.front());
        return;
    }
    each(part, access);
    const State& one = states_.front();
    if (is_whole(part) && std::ranges::all_of(states_, [&](const State& other) { return other == one; })) {
        states_.resize(1);
    }
}

}  // namespace kf::vulkan
