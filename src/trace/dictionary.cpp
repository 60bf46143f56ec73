#include "trace/dictionary.h"

#include <algorithm>
#include <charconv>

namespace pf {
namespace {

// The number of "V123" for letter V; none for "V", "V0123", "V12x" or a number too large to be abstract.
std::optional<uint64_t> abstract_number(std::string_view name, char letter) {
  if (name.size() < 2 || name[0] != letter || (name[1] == '0' && name.size() > 2)) return {};
  uint64_t number = 0;
  const char* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + 1, end, number);
  if (error != std::errc{} || at != end || number > kMaxAbstractNumber) return {};
  return number;
}

std::optional<uint64_t> hex_number(std::string_view text) {
  if (!text.starts_with("0x") || text.size() == 2) return {};
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + 2, end, number, 16);
  if (error != std::errc{} || at != end || number >= kAbstract) return {};
  return number;
}

std::string hex(uint64_t number) {
  char text[18] = "0x";
  const auto [end, error] = std::to_chars(text + 2, text + sizeof text, number, 16);
  return error == std::errc{} ? std::string(text, end) : std::string();
}

}  // namespace

ThreadId Dictionary::thread(std::string_view name) {
  if (const auto it = thread_index_.find(name); it != thread_index_.end()) return ThreadId{it->second};
  add_thread(std::string(name));
  return ThreadId{static_cast<uint32_t>(threads_.size() - 1)};
}

void Dictionary::add_thread(std::string name) {
  if (!thread_index_.try_emplace(name, static_cast<uint32_t>(threads_.size())).second) repeated_ = name;
  threads_.push_back(std::move(name));
}

SiteId Dictionary::site(std::string_view location) {
  if (const auto it = site_index_.find(location); it != site_index_.end()) return SiteId{it->second};
  return add_site({.location = std::string(location), .function = {}, .file = {}, .module = {}});
}

SiteId Dictionary::add_site(Site site, std::string_view label) {
  const SiteId id{static_cast<uint32_t>(sites_.size())};
  if (!label.empty()) {
    label_index_.insert_or_assign(std::string(label), index(id));
  } else if (!site.structured()) {
    site_index_.try_emplace(site.location, index(id));
  }
  sites_.push_back(std::move(site));
  return id;
}

std::optional<SiteId> Dictionary::labelled(std::string_view label) const {
  const auto it = label_index_.find(label);
  if (it == label_index_.end()) return {};
  return SiteId{it->second};
}

std::optional<uint64_t> Dictionary::told_by_name(ObjectKind kind, std::string_view name) {
  if (const auto address = hex_number(name)) return address;
  const auto number = abstract_number(name, kObjectLetters[static_cast<unsigned>(kind)]);
  if (!number) return {};
  return kind == ObjectKind::Variable ? abstract_variable(*number) : abstract_object(*number);
}

uint64_t Dictionary::object(ObjectKind kind, std::string_view name) {
  const auto id = told_by_name(kind, name);
  return id ? *id : named(kind, name);
}

uint64_t Dictionary::named(ObjectKind kind, std::string_view name) {
  const Index& known = object_index_[static_cast<unsigned>(kind)];
  const auto it = known.find(name);
  const uint32_t number =
      it != known.end() ? it->second : static_cast<uint32_t>(objects_[static_cast<unsigned>(kind)].size());
  if (it == known.end()) add_object(kind, std::string(name));
  return kind == ObjectKind::Variable ? named_variable(number) : named_object(number);
}

void Dictionary::add_object(ObjectKind kind, std::string name) {
  auto& names = objects_[static_cast<unsigned>(kind)];
  Index& known = object_index_[static_cast<unsigned>(kind)];
  if (!known.try_emplace(name, static_cast<uint32_t>(names.size())).second) repeated_ = name;
  names.push_back(std::move(name));
}

std::string Dictionary::thread_name(ThreadId t) const {
  return index(t) < threads_.size() ? threads_[index(t)] : "T" + std::to_string(index(t));
}

std::string Dictionary::object_name(ObjectKind kind, uint64_t id) const {
  if (id < kAbstract) return hex(id);
  const bool variable = kind == ObjectKind::Variable;
  const uint64_t number = variable ? (id & ~kNamed) >> 3 : id & ~kNamed;
  const std::string inside = variable && (id & 7) != 0 ? "+" + std::to_string(id & 7) : "";
  if (const std::string* given = given_name(kind, id)) return *given + inside;
  return kObjectLetters[static_cast<unsigned>(kind)] + std::to_string(number) + inside;
}

const std::string* Dictionary::given_name(ObjectKind kind, uint64_t id) const {
  if (id < kNamed) return nullptr;
  const uint64_t number = kind == ObjectKind::Variable ? (id & ~kNamed) >> 3 : id & ~kNamed;
  const auto& names = objects_[static_cast<unsigned>(kind)];
  return number < names.size() ? &names[number] : nullptr;
}

const Symbol* Dictionary::symbol_at(uint64_t address) const {
  const auto holds = [&](const Symbol& s) { return address >= s.address && address - s.address < s.size; };
  const auto it = std::ranges::find_if(symbols_, holds);
  return it == symbols_.end() ? nullptr : &*it;
}

}  // namespace pf
