// Dynamic annotations, an older interface than tsan_interface.h, spoken by many programs and by OpenMP's runtime.
#include <cstddef>

#include "runtime/abi/abi.h"
#include "runtime/hooks.h"
#include "runtime/intercept/intercept.h"
#include "runtime/registry.h"
#include "runtime/sampling.h"

using namespace pf;
using namespace pf::rt;

// Every annotation says where it stands; the call itself tells us that.
#define PF_ANNOTATE(NAME, ...) PF_EXPORT void NAME(const char*, int __VA_OPT__(, ) __VA_ARGS__)
#define PF_THREAD(T)                                                                                                   \
  Thread* T = current();                                                                                               \
  if (T == nullptr) return

PF_ANNOTATE(AnnotateHappensBefore, const void* p) {
  PF_THREAD(t);
  host::post(*t, address_of(p));
}
PF_ANNOTATE(AnnotateHappensAfter, const void* p) {
  PF_THREAD(t);
  host::take(*t, address_of(p));
}
PF_ANNOTATE(AnnotateCondVarSignal, const void* p) {
  PF_THREAD(t);
  host::post(*t, address_of(p));
}
PF_ANNOTATE(AnnotateCondVarSignalAll, const void* p) {
  PF_THREAD(t);
  host::post(*t, address_of(p));
}
PF_ANNOTATE(AnnotateCondVarWait, const void* p, const void*) {
  PF_THREAD(t);
  host::take(*t, address_of(p));
}
// Sampling engines: from now on everything is sampled, or nothing, instead of what the rate asks for.
PF_ANNOTATE(AnnotateSampling, int on) { sampling::force(on != 0); }
PF_ANNOTATE(AnnotateRWLockCreate, const void*) {}
PF_ANNOTATE(AnnotateRWLockCreateStatic, const void*) {}
PF_ANNOTATE(AnnotateRWLockDestroy, const void* l) {
  PF_THREAD(t);
  host::forget_object(*t, address_of(l));
}
PF_ANNOTATE(AnnotateRWLockAcquired, const void* l, long is_writer) {
  PF_THREAD(t);
  lock_taken(*t, address_of(l), is_writer != 0 ? LockMode::Write : LockMode::Read, PF_CALLER_PC);
}
PF_ANNOTATE(AnnotateRWLockReleased, const void* l, long) {
  PF_THREAD(t);
  lock_given_up(*t, address_of(l), PF_CALLER_PC);
}
PF_ANNOTATE(AnnotateBenignRace, const void* p, const char*) { add_benign(address_of(p), 8); }
PF_ANNOTATE(AnnotateBenignRaceSized, const void* p, std::size_t size, const char*) { add_benign(address_of(p), size); }
PF_ANNOTATE(AnnotateIgnoreReadsBegin) {
  PF_THREAD(t);
  ++t->ignore_reads;
}
PF_ANNOTATE(AnnotateIgnoreReadsEnd) {
  PF_THREAD(t);
  --t->ignore_reads;
}
PF_ANNOTATE(AnnotateIgnoreWritesBegin) {
  PF_THREAD(t);
  ++t->ignore_writes;
}
PF_ANNOTATE(AnnotateIgnoreWritesEnd) {
  PF_THREAD(t);
  --t->ignore_writes;
}
PF_ANNOTATE(AnnotateIgnoreSyncBegin) {
  PF_THREAD(t);
  ++t->ignore_sync;
}
PF_ANNOTATE(AnnotateIgnoreSyncEnd) {
  PF_THREAD(t);
  --t->ignore_sync;
}
PF_ANNOTATE(AnnotateNewMemory, const void* p, std::size_t size) {
  PF_THREAD(t);
  host::begin_block(*t, address_of(p), size);
}
PF_ANNOTATE(AnnotateThreadName, const char* name) {
  PF_THREAD(t);
  registry::set_name(*t, name);
}
PF_ANNOTATE(AnnotatePublishMemoryRange, const void*, std::size_t) {}
PF_ANNOTATE(AnnotateUnpublishMemoryRange, const void*, std::size_t) {}
PF_ANNOTATE(AnnotatePCQCreate, const void*) {}
PF_ANNOTATE(AnnotatePCQDestroy, const void*) {}
PF_ANNOTATE(AnnotatePCQPut, const void*) {}
PF_ANNOTATE(AnnotatePCQGet, const void*) {}
PF_ANNOTATE(AnnotateExpectRace, const void*, const char*) {}
PF_ANNOTATE(AnnotateFlushExpectedRaces) {}
PF_ANNOTATE(AnnotateEnableRaceDetection, int) {}
PF_ANNOTATE(AnnotateMutexIsUsedAsCondVar, const void*) {}
PF_ANNOTATE(AnnotateMutexIsNotPHB, const void*) {}
PF_ANNOTATE(AnnotateTraceMemory, const void*) {}
PF_ANNOTATE(AnnotateNoOp, const void*) {}
PF_ANNOTATE(AnnotateFlushState) {}

// include/photofinish/photofinish.h
PF_EXPORT void photofinish_uses(const void* p, std::size_t size) {
  PF_THREAD(t);
  library::look_around(*t);
  library::uses(*t, address_of(p), size);
}

PF_EXPORT int RunningOnValgrind() { return 0; }
PF_EXPORT double ValgrindSlowdown() { return 10.0; }
PF_EXPORT const char* ThreadSanitizerQuery(const char* question) {
  return __builtin_strcmp(question, "pure_happens_before") == 0 ? "1" : "0";
}
