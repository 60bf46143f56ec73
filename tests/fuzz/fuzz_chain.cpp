// Chains: any text is a chain whose stages can be made, or an error that says why not.
#include "expect.h"
#include "offline/catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const pf::Result<pf::Chain> chain = pf::parse_chain(text, pf::offline_catalog());
  if (!chain) {
    PF_EXPECT(!chain.error().message.empty());
    return 0;
  }
  PF_EXPECT(chain->text == text);
  PF_EXPECT(!chain->stages.empty());
  for (const pf::StageSpec& stage : chain->stages) {
    const bool last = &stage == &chain->detector();
    PF_EXPECT((stage.info->kind != pf::StageKind::Filter) == last);
    PF_EXPECT(!stage.info->offline || (last ? pf::make_detector(stage) != nullptr : pf::make_filter(stage) != nullptr));
  }
  return 0;
}
