// How traces number memory and synchronization objects.
//
// A recorded program has real addresses. A trace written by hand or by another tool has names: "V123", "L4". A plain
// letter and number becomes an abstract id, top bit set, and needs no entry in any table; abstract variable k is the eight
// bytes at kAbstract + 8k, so that variables are memory like any other. Other names get an id in the named range.
#pragma once
#include "core/event.h"

namespace pf {

inline constexpr uint64_t kAbstract = uint64_t{1} << 63;
inline constexpr uint64_t kNamed = kAbstract | uint64_t{1} << 62;
inline constexpr uint64_t kMaxAbstractNumber = (uint64_t{1} << 58) - 1;
inline constexpr uint32_t kVariableSize = 8;

constexpr uint64_t abstract_variable(uint64_t number) { return kAbstract | number << 3; }
constexpr uint64_t named_variable(uint64_t number) { return kNamed | number << 3; }
constexpr uint64_t abstract_object(uint64_t number) { return kAbstract | number; }
constexpr uint64_t named_object(uint64_t number) { return kNamed | number; }

// The kinds of object that have a namespace, and the letter of their abstract names.
enum class ObjectKind : uint8_t { Variable, Lock, Condition, Barrier, Semaphore, Function };
inline constexpr unsigned kObjectKinds = 6;
inline constexpr std::string_view kObjectLetters = "VLCBSF";

constexpr ObjectKind object_kind(Op op) {
  switch (op) {
    case Op::Acquire:
    case Op::Release:
    case Op::ReadAcquire:
    case Op::ReadRelease: return ObjectKind::Lock;
    case Op::Wait:
    case Op::Wake:
    case Op::Notify: return ObjectKind::Condition;
    case Op::BarrierEnter:
    case Op::BarrierLeave: return ObjectKind::Barrier;
    case Op::SemPost:
    case Op::SemWait: return ObjectKind::Semaphore;
    case Op::Call:
    case Op::Return:
    case Op::MissingBegin: return ObjectKind::Function;
    default: return ObjectKind::Variable;
  }
}

}  // namespace pf
