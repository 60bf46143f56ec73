// CARISMA's state: any bytes are a state or an error that says why not; what is a state reads the same when it is written again.
#include "expect.h"
#include "filter/carisma_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto unit = data[0] % 2 == 0 ? pf::SampleUnit::Locations : pf::SampleUnit::Writes;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 4 >= 2) bytes = pf::with_checksum(bytes);  // else hardly any input would get further
  const pf::Result<pf::CarismaState> state = pf::decode_state(bytes, unit, "file");
  if (!state) {
    PF_EXPECT(state.error().message.starts_with("file "));
    return 0;
  }
  const pf::Result<pf::CarismaState> again = pf::decode_state(pf::encode_state(*state, unit), unit, "file");
  PF_EXPECT(again && again->trials == state->trials && again->contexts == state->contexts);
  for (const pf::CarismaStrategy strategy :
       {pf::CarismaStrategy::Cls, pf::CarismaStrategy::Fls, pf::CarismaStrategy::Aas}) {
    const pf::CarismaLaw law{.strategy = strategy};
    for (const auto& [id, rate] : state->next_rates(law)) {
      PF_EXPECT(rate <= pf::Periods::kAlways);
      PF_EXPECT(law.plan(rate).rate <= pf::Periods::kAlways);
    }
  }
  return 0;
}
