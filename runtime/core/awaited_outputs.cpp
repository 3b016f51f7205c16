// Outputs of recorded calls that haven't run.
#include "core/awaited_outputs.h"

#include "core/bind_error.h"
#include "core/items.h"
#include "core/pass_rules.h"
#include "core/recording.h"
#include "core/roles.h"
#include "core/tensor_state.h"
#include "core/texture_state.h"

namespace kf::detail {
namespace {

driver::Awaited* memory_of(const Arg& arg) {
    if (arg.texture != nullptr && *arg.texture) return arg.texture->state()->image.get();
    return arg.tensor != nullptr && *arg.tensor ? arg.tensor->state()->allocation.get() : nullptr;
}

}  // namespace

void await_run(EncoderState& encoder, std::span<const Arg> arguments) {
    const auto add = [&](const auto& memory) {
        memory->await_run();
        encoder.awaited.emplace_back(memory);
    };
    for (const Arg& arg : arguments) {
        if (arg.allocated_texture) add(arg.allocated_texture.state()->image);
        if (!arg.allocated) continue;
        const auto& memory = arg.allocated.state()->allocation;
        if (memory != nullptr && !memory->is_wrapped) add(memory);
    }
}

void check_awaited(const manifest::Function& function, const manifest::Call& call, PassKind pass,
                   std::span<const Arg> arguments) {
    for (std::size_t i = 0; i < arguments.size() && i < call.items.size(); ++i) {
        driver::Awaited* const memory = memory_of(arguments[i]);
        if (memory == nullptr || !memory->awaits_run()) continue;
        const auto leaves =
            std::span(call.arguments)
                .subspan(manifest::leaf_of(call, i), static_cast<std::size_t>(call.items[i].leaves));
        // What pointers lead to is the caller's to know.
        const bool is_known =
            arguments[i].kind == Arg::Kind::tensor || arguments[i].kind == Arg::Kind::texture;
        const auto is_read = [&](const manifest::Argument& leaf) {
            const bool is_made = runs_forward(pass) && manifest::is_only_written(leaf.role);
            return !is_made && (arguments[i].texture != nullptr || touches_elements(leaf, pass));
        };
        if (is_known && std::ranges::any_of(leaves, is_read)) {
            throw ArgumentError(ErrorCode::graph_context, function.name + ": argument '" +
                                                              leaves.front().name + "': " + awaits_run_text);
        }
        const auto is_stored = [&](const manifest::Argument& leaf) {
            return arguments[i].texture != nullptr || !is_known || stores_elements(leaf, pass);
        };
        if (std::ranges::any_of(leaves, is_stored)) memory->note_written();
    }
}

}  // namespace kf::detail
