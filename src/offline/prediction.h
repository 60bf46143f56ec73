// A predictor as the last stage of a chain.
#pragma once
#include "detect/chain.h"
#include "offline/stage.h"

namespace pf {

bool is_predictor(const EngineInfo& info);

// Windows that are worked on: of every `of`, the one with number `number` (from 0). The races of one shard of several are not merged,
// since whoever merges the shards must do it in the order of all windows.
struct Shard {
  uint64_t number = 0, of = 1;
};
std::unique_ptr<DetectorStage> make_predictor(const StageSpec& spec, Shard shard = {});

}  // namespace pf
