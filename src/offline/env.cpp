#include "offline/env.h"

#include <new>

namespace pf {

Arena::~Arena() {
  while (large_ != nullptr) free_large(large_ + 1);
}

void* Arena::carve(std::size_t bytes) {
  if (left_ < bytes) {
    at_ = chunks_.emplace_back(new char[kChunk]).get();
    left_ = kChunk;
  }
  void* p = at_;
  at_ += bytes;
  left_ -= bytes;
  return p;
}

void* Arena::large(std::size_t bytes) {
  auto* header = static_cast<LargeHeader*>(::operator new(sizeof(LargeHeader) + bytes, std::align_val_t{16}));
  *header = {nullptr, large_};
  if (large_ != nullptr) large_->before = header;
  large_ = header;
  return header + 1;
}

void Arena::free_large(void* p) {
  LargeHeader* header = static_cast<LargeHeader*>(p) - 1;
  if (header->after != nullptr) header->after->before = header->before;
  (header->before != nullptr ? header->before->after : large_) = header->after;
  ::operator delete(header, std::align_val_t{16});
}

}  // namespace pf
