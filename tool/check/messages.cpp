// Messages between kfgen and kfgen-check about a check of gradients: CBOR, an object a message.
#include "check/messages.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kf::check {
namespace {

using nlohmann::json;

json binary(const std::vector<std::byte>& bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return json::binary({first, first + bytes.size()});
}

std::vector<std::byte> bytes_in(const json& node) {
    const auto& binary = node.get_ref<const json::binary_t&>();
    const auto* first = reinterpret_cast<const std::byte*>(binary.data());
    return {first, first + binary.size()};
}

json settings_node(const Settings& settings) {
    json shapes = json::array();
    for (const GivenShape& shape : settings.shapes) shapes.push_back({shape.argument, shape.extents});
    json node{{"device", settings.device},
              {"seed", settings.seed},
              {"shapes", shapes},
              {"except", settings.except}};
    if (settings.range) node["range"] = *settings.range;
    return node;
}

Settings settings_in(const json& node) {
    Settings settings;
    node.at("device").get_to(settings.device);
    node.at("seed").get_to(settings.seed);
    node.at("except").get_to(settings.except);
    for (const json& shape : node.at("shapes")) {
        settings.shapes.push_back(
            {shape.at(0).get<std::string>(), shape.at(1).get<std::vector<std::int64_t>>()});
    }
    if (node.contains("range")) settings.range = node.at("range").get<std::pair<double, double>>();
    return settings;
}

// One object for each kind of message, whose first key says which it is.
json node_of(const Greeting& one) { return {{"version", one.version}, {"messages", one.messages}}; }
json node_of(const Step& one) { return {{"step", one.text}}; }
json node_of(const Question& one) {
    return {{"question", one.function}, {"begin", one.begin}, {"end", one.end}};
}
json node_of(const Conclusion& one) { return {{"report", one.report}, {"right", one.right}}; }
json node_of(const Refusal& one) {
    return {{"refusal", one.message}, {"id", one.id}, {"of_device", one.of_device}};
}
json node_of(const Fault& one) { return {{"fault", one.message}}; }

Message message_in(const json& node) {
    if (node.contains("version")) return Greeting{node.at("version"), node.at("messages")};
    if (node.contains("step")) return Step{node.at("step")};
    if (node.contains("question")) return Question{node.at("begin"), node.at("end"), node.at("question")};
    if (node.contains("report")) return Conclusion{node.at("report"), node.at("right")};
    if (node.contains("refusal")) return Refusal{node.at("id"), node.at("refusal"), node.at("of_device")};
    return Fault{node.at("fault")};
}

Task task_in(const json& node) {
    Task task;
    task.artifact = bytes_in(node.at("artifact"));
    task.settings = settings_in(node.at("settings"));
    node.at("json").get_to(task.json);
    for (const json& one : node.at("reasons")) {
        task.reasons.push_back({one.at(0), one.at(1), one.at(2), one.at(3)});
    }
    for (const json& one : node.at("differences")) task.differences.push_back(bytes_in(one));
    for (const json& one : node.at("loops")) {
        task.loops.push_back({one.at(0), one.at(1), one.at(2), one.at(3)});
    }
    node.at("not_compared").get_to(task.not_compared);
    return task;
}

std::string bytes_of(const json& node) {
    std::string bytes;
    json::to_cbor(node, bytes);
    return bytes;
}

/// Reads what `read` takes out of the object that the bytes stand for.
template <class Read>
auto decode_with(std::string_view bytes, Read read) {
    try {
        return read(json::from_cbor(bytes.begin(), bytes.end()));
    } catch (const json::exception& error) {
        throw std::runtime_error(std::string("not a message: ") + error.what());
    }
}

}  // namespace

std::string encode(const Message& message) {
    return bytes_of(std::visit([](const auto& one) { return node_of(one); }, message));
}

std::string encode(const Task& task) {
    json reasons = json::array();
    for (const Reason& one : task.reasons) {
        reasons.push_back({one.function, one.call, one.argument, one.text});
    }
    json differences = json::array();
    for (const auto& artifact : task.differences) differences.push_back(binary(artifact));
    json loops = json::array();
    for (const PastLimit& one : task.loops) loops.push_back({one.file, one.line, one.function, one.limit});
    return bytes_of({{"artifact", binary(task.artifact)},
                     {"settings", settings_node(task.settings)},
                     {"json", task.json},
                     {"reasons", reasons},
                     {"differences", differences},
                     {"loops", loops},
                     {"not_compared", task.not_compared}});
}

std::string encode(const Answer& answer) {
    return bytes_of({{"artifact", binary(answer.artifact)}, {"failure", answer.failure}});
}

Message decode_message(std::string_view bytes) { return decode_with(bytes, message_in); }

Task decode_task(std::string_view bytes) { return decode_with(bytes, task_in); }

Answer decode_answer(std::string_view bytes) {
    return decode_with(bytes, [](const json& node) {
        return Answer{bytes_in(node.at("artifact")), node.at("failure")};
    });
}

}  // namespace kf::check
