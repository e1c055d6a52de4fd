// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/kernel_answers.hpp"

#include <algorithm>
#include <utility>

namespace weft::ethernet {
namespace {

std::uint32_t detail_of(const Figure& figure) {
  return static_cast<std::uint32_t>(figure.direction) << 16 | static_cast<std::uint32_t>(figure.priority) << 8 |
         figure.lane;
}

HostSeries series_of(const Figure& figure, const Interface& interface) {
  HostSeries series;
  series.device = interface.device;
  series.port = interface.port;
  series.name = figure.name;
  series.direction = figure.direction;
  series.priority = figure.priority;
  series.lane = figure.lane;
  series.behaviour = figure.is_gauge ? CounterBehaviour::kGauge : CounterBehaviour::kWraps;
  return series;
}

}  // namespace

void put_figures(AnswerSlots& slots, const Figures& figures, const Interface& interface, ValueSink* sink) {
  slots.begin(sink);
  for (const Figure& figure : figures)
    slots.put({figure.name, detail_of(figure)}, figure.value,
              [&] { return std::optional(series_of(figure, interface)); });
}

void KernelAnswers::add(const Interface& interface, netlink::Request request, Parser parser) {
  questions_.push_back({interface, parser, {}});
  requests_.push_back(std::move(request));
}

Result<void> KernelAnswers::learn(netlink::Socket& socket) {
  Result<void> asked = ask(socket, nullptr);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < questions_.size(); ++i) {
    if (!questions_[i].is_answered) continue;
    if (kept != i) {
      questions_[kept] = std::move(questions_[i]);
      requests_[kept] = std::move(requests_[i]);
    }
    ++kept;
  }
  questions_.erase(questions_.begin() + static_cast<std::ptrdiff_t>(kept), questions_.end());
  requests_.resize(kept);
  return asked;
}

Result<void> KernelAnswers::ask(netlink::Socket& socket, ValueSink* sink) {
  return socket.ask(requests_, [&](std::size_t i, int error, const netlink::Message& answer) {
    Question& question = questions_[i];
    if (error != 0) return;
    figures_.clear();
    question.parser(netlink::attributes_of(answer.payload, header_size_), figures_);
    question.is_answered = question.is_answered || !figures_.empty();
    put_figures(question.slots, figures_, question.interface, sink);
  });
}

void KernelAnswers::enter(SeriesRegistry& book) {
  for (Question& question : questions_) question.slots.enter(book);
}

bool KernelAnswers::has_new() const {
  return std::ranges::any_of(questions_, [](const Question& question) { return question.slots.has_new(); });
}

}  // namespace weft::ethernet
