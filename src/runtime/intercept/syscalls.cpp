// What a program tells around its raw system calls by the macros of <sanitizer/linux_syscall_hooks.h>. The calls of reading,
// writing and closing are what those of libc are; the others order nothing here, and are there to be linked with.
#include <sys/uio.h>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"
#include "runtime/intercept/pieces.h"

using namespace pf::rt;

namespace {

namespace fds = pf::rt::descriptors;

const void* memory(long address) { return reinterpret_cast<const void*>(address); }
const iovec* pieces(long address) { return reinterpret_cast<const iovec*>(address); }

template <class Note>
void writing(long fd, Note note) {
  Thread* t = calling_thread();
  if (t == nullptr) return;
  note(*t);
  fds::post(*t, static_cast<int>(fd));
}
template <class Note>
void wrote(long result, long fd, Note note) {
  Thread* t = result >= 0 ? calling_thread() : nullptr;
  if (t == nullptr) return;
  fds::take(*t, static_cast<int>(fd));
  note(*t, static_cast<std::size_t>(result));
}

}  // namespace

#define PF_BEFORE(NAME, ...) PF_EXPORT void __sanitizer_syscall_pre_impl_##NAME(__VA_ARGS__)
#define PF_AFTER(NAME, ...) PF_EXPORT void __sanitizer_syscall_post_impl_##NAME(__VA_ARGS__)

PF_BEFORE(write, long fd, long from, long n) {
  writing(fd, [=, pc = PF_CALLER_PC](Thread& t) { note_read(t, memory(from), static_cast<std::size_t>(n), pc); });
}
PF_BEFORE(pwrite64, long fd, long from, long n, long) {
  writing(fd, [=, pc = PF_CALLER_PC](Thread& t) { note_read(t, memory(from), static_cast<std::size_t>(n), pc); });
}
PF_BEFORE(writev, long fd, long v, long count) {
  writing(fd, [=, pc = PF_CALLER_PC](Thread& t) {
    note_pieces(t, pieces(v), static_cast<int>(count), SIZE_MAX, false, pc);
  });
}
PF_AFTER(read, long result, long fd, long to, long) {
  wrote(result, fd, [=, pc = PF_CALLER_PC](Thread& t, std::size_t n) { note_write(t, memory(to), n, pc); });
}
PF_AFTER(pread64, long result, long fd, long to, long, long) {
  wrote(result, fd, [=, pc = PF_CALLER_PC](Thread& t, std::size_t n) { note_write(t, memory(to), n, pc); });
}
PF_AFTER(readv, long result, long fd, long v, long count) {
  wrote(result, fd, [=, pc = PF_CALLER_PC](Thread& t, std::size_t n) {
    note_pieces(t, pieces(v), static_cast<int>(count), n, true, pc);
  });
}
PF_BEFORE(close, long fd) { fds::closing(calling_thread(), static_cast<int>(fd)); }

extern "C" [[gnu::used]] void pf_ignored_call() noexcept {}
#define PF_SAME(NAME) extern "C" [[gnu::visibility("default"), gnu::alias("pf_ignored_call")]] void NAME() noexcept;
#define BEFORE(NAME) PF_SAME(__sanitizer_syscall_pre_impl_##NAME)
#define AFTER(NAME) PF_SAME(__sanitizer_syscall_post_impl_##NAME)
#define BOTH(NAME) BEFORE(NAME) AFTER(NAME)
// clang-format off
AFTER(write) AFTER(pwrite64) AFTER(writev) BEFORE(read) BEFORE(pread64) BEFORE(readv) AFTER(close)
BOTH(accept) BOTH(accept4) BOTH(access) BOTH(acct) BOTH(add_key) BOTH(adjtimex) BOTH(alarm) BOTH(bdflush) BOTH(bind)
BOTH(brk) BOTH(capget) BOTH(capset) BOTH(chdir) BOTH(chmod) BOTH(chown) BOTH(chown16) BOTH(chroot) BOTH(clock_adjtime)
BOTH(clock_getres) BOTH(clock_gettime) BOTH(clock_nanosleep) BOTH(clock_settime) BOTH(connect) BOTH(creat)
BOTH(delete_module) BOTH(dup) BOTH(dup2) BOTH(dup3) BOTH(epoll_create) BOTH(epoll_create1) BOTH(epoll_ctl)
BOTH(epoll_pwait) BOTH(epoll_pwait2) BOTH(epoll_wait) BOTH(eventfd) BOTH(eventfd2) BOTH(exit) BOTH(exit_group)
BOTH(faccessat) BOTH(fanotify_init) BOTH(fanotify_mark) BOTH(fchdir) BOTH(fchmod) BOTH(fchmodat) BOTH(fchown)
BOTH(fchown16) BOTH(fchownat) BOTH(fcntl) BOTH(fcntl64) BOTH(fdatasync) BOTH(fgetxattr) BOTH(flistxattr) BOTH(flock)
BOTH(fork) BOTH(fremovexattr) BOTH(fsetxattr) BOTH(fstat) BOTH(fstat64) BOTH(fstatat64) BOTH(fstatfs) BOTH(fstatfs64)
BOTH(fsync) BOTH(ftruncate) BOTH(futex) BOTH(futimesat) BOTH(get_mempolicy) BOTH(get_robust_list) BOTH(getcpu)
BOTH(getcwd) BOTH(getdents) BOTH(getdents64) BOTH(getegid) BOTH(getegid16) BOTH(geteuid) BOTH(geteuid16) BOTH(getgid)
BOTH(getgid16) BOTH(getgroups) BOTH(getgroups16) BOTH(gethostname) BOTH(getitimer) BOTH(getpeername) BOTH(getpgid)
BOTH(getpgrp) BOTH(getpid) BOTH(getppid) BOTH(getpriority) BOTH(getresgid) BOTH(getresgid16) BOTH(getresuid)
BOTH(getresuid16) BOTH(getrlimit) BOTH(getrusage) BOTH(getsid) BOTH(getsockname) BOTH(getsockopt) BOTH(gettid)
BOTH(gettimeofday) BOTH(getuid) BOTH(getuid16) BOTH(getxattr) BOTH(init_module) BOTH(inotify_add_watch)
BOTH(inotify_init) BOTH(inotify_init1) BOTH(inotify_rm_watch) BOTH(io_cancel) BOTH(io_destroy) BOTH(io_getevents)
BOTH(io_setup) BOTH(io_submit) BOTH(ioctl) BOTH(ioperm) BOTH(ioprio_get) BOTH(ioprio_set) BOTH(ipc) BOTH(kexec_load)
BOTH(keyctl) BOTH(kill) BOTH(lchown) BOTH(lchown16) BOTH(lgetxattr) BOTH(link) BOTH(linkat) BOTH(listen)
BOTH(listxattr) BOTH(llistxattr) BOTH(llseek) BOTH(lookup_dcookie) BOTH(lremovexattr) BOTH(lseek) BOTH(lsetxattr)
BOTH(lstat) BOTH(lstat64) BOTH(madvise) BOTH(mbind) BOTH(migrate_pages) BOTH(mincore) BOTH(mkdir) BOTH(mkdirat)
BOTH(mknod) BOTH(mknodat) BOTH(mlock) BOTH(mlockall) BOTH(mmap_pgoff) BOTH(mount) BOTH(move_pages) BOTH(mprotect)
BOTH(mq_getsetattr) BOTH(mq_notify) BOTH(mq_open) BOTH(mq_timedreceive) BOTH(mq_timedsend) BOTH(mq_unlink)
BOTH(mremap) BOTH(msgctl) BOTH(msgget) BOTH(msgrcv) BOTH(msgsnd) BOTH(msync) BOTH(munlock) BOTH(munlockall)
BOTH(munmap) BOTH(name_to_handle_at) BOTH(nanosleep) BOTH(newfstat) BOTH(newfstatat) BOTH(newlstat) BOTH(newstat)
BOTH(newuname) BOTH(ni_syscall) BOTH(nice) BOTH(old_getrlimit) BOTH(old_mmap) BOTH(old_readdir) BOTH(old_select)
BOTH(oldumount) BOTH(olduname) BOTH(open) BOTH(open_by_handle_at) BOTH(openat) BOTH(pause) BOTH(pciconfig_iobase)
BOTH(pciconfig_read) BOTH(pciconfig_write) BOTH(perf_event_open) BOTH(personality) BOTH(pipe) BOTH(pipe2)
BOTH(pivot_root) BOTH(poll) BOTH(ppoll) BOTH(preadv) BOTH(prlimit64) BOTH(process_vm_readv) BOTH(process_vm_writev)
BOTH(pselect6) BOTH(ptrace) BOTH(pwritev) BOTH(quotactl) BOTH(readlink) BOTH(readlinkat) BOTH(reboot) BOTH(recv)
BOTH(recvfrom) BOTH(recvmmsg) BOTH(recvmsg) BOTH(remap_file_pages) BOTH(removexattr) BOTH(rename) BOTH(renameat)
BOTH(request_key) BOTH(restart_syscall) BOTH(rmdir) BOTH(rt_sigaction) BOTH(rt_sigpending) BOTH(rt_sigprocmask)
BOTH(rt_sigqueueinfo) BOTH(rt_sigtimedwait) BOTH(rt_tgsigqueueinfo) BOTH(sched_get_priority_max)
BOTH(sched_get_priority_min) BOTH(sched_getaffinity) BOTH(sched_getparam) BOTH(sched_getscheduler)
BOTH(sched_rr_get_interval) BOTH(sched_setaffinity) BOTH(sched_setparam) BOTH(sched_setscheduler) BOTH(sched_yield)
BOTH(select) BOTH(semctl) BOTH(semget) BOTH(semop) BOTH(semtimedop) BOTH(send) BOTH(sendfile) BOTH(sendfile64)
BOTH(sendmmsg) BOTH(sendmsg) BOTH(sendto) BOTH(set_mempolicy) BOTH(set_robust_list) BOTH(set_tid_address)
BOTH(setdomainname) BOTH(setfsgid) BOTH(setfsgid16) BOTH(setfsuid) BOTH(setfsuid16) BOTH(setgid) BOTH(setgid16)
BOTH(setgroups) BOTH(setgroups16) BOTH(sethostname) BOTH(setitimer) BOTH(setns) BOTH(setpgid) BOTH(setpriority)
BOTH(setregid) BOTH(setregid16) BOTH(setresgid) BOTH(setresgid16) BOTH(setresuid) BOTH(setresuid16) BOTH(setreuid)
BOTH(setreuid16) BOTH(setrlimit) BOTH(setsid) BOTH(setsockopt) BOTH(settimeofday) BOTH(setuid) BOTH(setuid16)
BOTH(setxattr) BOTH(sgetmask) BOTH(shmat) BOTH(shmctl) BOTH(shmdt) BOTH(shmget) BOTH(shutdown) BOTH(sigaction)
BOTH(sigaltstack) BOTH(signal) BOTH(signalfd) BOTH(signalfd4) BOTH(sigpending) BOTH(sigprocmask) BOTH(socket)
BOTH(socketcall) BOTH(socketpair) BOTH(splice) BOTH(spu_create) BOTH(spu_run) BOTH(ssetmask) BOTH(stat) BOTH(stat64)
BOTH(statfs) BOTH(statfs64) BOTH(stime) BOTH(swapoff) BOTH(swapon) BOTH(symlink) BOTH(symlinkat) BOTH(sync)
BOTH(syncfs) BOTH(sysctl) BOTH(sysfs) BOTH(sysinfo) BOTH(syslog) BOTH(tee) BOTH(tgkill) BOTH(time) BOTH(timer_create)
BOTH(timer_delete) BOTH(timer_getoverrun) BOTH(timer_gettime) BOTH(timer_settime) BOTH(timerfd_create)
BOTH(timerfd_gettime) BOTH(timerfd_settime) BOTH(times) BOTH(tkill) BOTH(truncate) BOTH(umask) BOTH(umount)
BOTH(uname) BOTH(unlink) BOTH(unlinkat) BOTH(unshare) BOTH(uselib) BOTH(ustat) BOTH(utime) BOTH(utimensat)
BOTH(utimes) BOTH(vfork) BOTH(vhangup) BOTH(vmsplice) BOTH(wait4) BOTH(waitid) BOTH(waitpid)
    // clang-format on
