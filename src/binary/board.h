// The side of `photofinish sample` of what it shares with the program (watch/sites.h).
#pragma once
#include <string>

#include "core/result.h"
#include "watch/sites.h"

namespace pf::binary {

// A file with holes, gone when its folder is.
class BoardFile {
 public:
  static Result<BoardFile> make(const std::string& path);
  BoardFile(BoardFile&& other) noexcept;
  BoardFile& operator=(BoardFile&&) = delete;
  ~BoardFile();

  watch::Board& board() const { return *static_cast<watch::Board*>(memory_); }
  watch::Site* sites() const {
    return reinterpret_cast<watch::Site*>(static_cast<char*>(memory_) + watch::kSitesOffset);
  }

 private:
  explicit BoardFile(void* memory) : memory_(memory) {}
  void* memory_;
};

}  // namespace pf::binary
