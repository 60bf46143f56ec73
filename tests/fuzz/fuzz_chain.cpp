// Chains: any text is a chain that makes a detector, or an error that says why not.
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
  PF_EXPECT(chain->detector().info->kind == pf::StageKind::Detector);
  PF_EXPECT(pf::make_detector(chain->detector()) != nullptr);
  return 0;
}
