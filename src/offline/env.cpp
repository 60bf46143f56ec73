#include "offline/env.h"

#include <new>

namespace pf {

Arena::~Arena() {
  for (void* p : large_) ::operator delete(p, std::align_val_t{16});
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

void* Arena::large(std::size_t bytes) { return *large_.insert(::operator new(bytes, std::align_val_t{16})).first; }

void Arena::free_large(void* p) {
  large_.erase(p);
  ::operator delete(p, std::align_val_t{16});
}

}  // namespace pf
