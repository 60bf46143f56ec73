// The groups of library_order.h inside the target: memory that calls have reached is known by the piece it is in (reach.h), with an object
// at the piece's beginning. One lock for all groups; it is taken before a Line, never after.
//
// Where a Line is held already, since memory ends, its object is put aside and let go of by whoever has the lock next.
#pragma once
#include "core/library_order.h"
#include "runtime/library_calls.h"
#include "runtime/objects.h"

namespace pf::rt {

template <class Host>
class OnlineLibrary {
 public:
  using D = typename Host::D;
  using HostThread = typename Host::HostThread;
  using Group = typename D::Group;
  struct Reached : Object {
    static constexpr uint8_t kKind = Host::kReached;
    Group* group;
  };

  static void begin(HostThread& t, library::Call& call) {
    const Guard guard(g_lock);
    let_go_of_orphans(t);
    Group* group = D::new_group(t.env);
    for (uint32_t i = 0; i < call.piece_count; ++i) reach(t, group, call.pieces[i]);
    __atomic_store_n(&g_any, true, __ATOMIC_RELAXED);
    D::tell(t.state, group, t.env);
    call.order = group;
    t.renew();
  }
  static void end(HostThread& t, library::Call& call) {
    auto* group = static_cast<Group*>(call.order);
    if (group == nullptr) return;
    const Guard guard(g_lock);
    D::end_call(t.state, group, t.env);
    call.order = nullptr;
    t.renew();
  }
  static void begin_callback(HostThread& t, const library::Call& call) { be_told(t, static_cast<Group*>(call.order)); }
  static void end_callback(HostThread& t, const library::Call& call) { tell(t, static_cast<Group*>(call.order)); }

  // Around an operation of instrumented code on what a library may use to order: what was done so far is told before it is made, and
  // what others told is known once it is.
  class Exchange {
   public:
    Exchange(HostThread& t, uintptr_t address) : thread_(t) {
      reach::Piece piece{};
      if (!__atomic_load_n(&g_any, __ATOMIC_RELAXED) || t.ignore_sync != 0 || !reach::piece_at(t, address, piece))
        return;
      at_ = piece.begin;
      at_group([&](Group* group) { D::tell(t.state, group, t.env); });
    }
    ~Exchange() {
      if (at_ != 0) at_group([&](Group* group) { D::be_told(thread_.state, group, thread_.env); });
    }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

   private:
    template <class F>
    void at_group(F f) {
      const Guard guard(g_lock);
      Group* group = nullptr;
      {
        Line line(at_);
        const auto* reached = line.template find<Reached>(at_);
        if (reached != nullptr) group = reached->group;
      }
      if (group == nullptr) return;
      f(group);
      thread_.renew();
    }
    HostThread& thread_;
    uintptr_t at_ = 0;
  };

  // Its memory ends; its Line is held.
  static void put_aside(Line& line, Object* reached) {
    line.remove(reached);
    Object* first = __atomic_load_n(&g_orphans, __ATOMIC_RELAXED);
    do {
      reached->next = first;
    } while (!__atomic_compare_exchange_n(&g_orphans, &first, reached, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  }

 private:
  static void reach(HostThread& t, Group*& group, const reach::Piece& piece) {
    bool is_first = false;
    {
      Line line(piece.begin);
      auto& reached = line.template get<Reached>(piece.begin, *t.arena);
      is_first = reached.group == nullptr;
      D::reach(t.state, group, reached.group, t.env);
    }
    if (!is_first) return;
    for_each_object(piece.begin, piece.end, [&](Line&, Object* o) {
      if (o->kind == Host::Atomic::kKind) D::be_told(t.state, static_cast<typename Host::Atomic*>(o)->state, t.env);
    });
  }
  static void tell(HostThread& t, Group* group) {
    if (group == nullptr) return;
    const Guard guard(g_lock);
    D::tell(t.state, group, t.env);
    t.renew();
  }
  static void be_told(HostThread& t, Group* group) {
    if (group == nullptr) return;
    const Guard guard(g_lock);
    D::be_told(t.state, group, t.env);
    t.renew();
  }
  static void let_go_of_orphans(HostThread& t) {
    for (Object* o = __atomic_exchange_n(&g_orphans, nullptr, __ATOMIC_ACQUIRE); o != nullptr;) {
      auto* reached = static_cast<Reached*>(o);
      o = o->next;
      D::drop(reached->group, t.env);
      t.arena->deallocate_object(reached, sizeof(Reached));
    }
  }

  static constinit inline SpinLock g_lock{};
  static constinit inline bool g_any = false;
  static constinit inline Object* g_orphans = nullptr;
};

}  // namespace pf::rt
