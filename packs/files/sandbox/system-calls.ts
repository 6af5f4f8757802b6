/** The processors that have a filter, with Node's names. */
export type Processor = "x64" | "arm64"

/** `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64`: the kernel's constants for the architecture of a call. */
export const AUDIT_ARCHITECTURE: Readonly<Record<Processor, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** The number of a call on each processor; undefined if it does not exist there. */
export type Numbers = Readonly<{ x64: number; arm64: number | undefined }>

const both = (x64: number, arm64: number | undefined): Numbers => ({ x64, arm64 })
/** Calls since 2019 have the same number on all processors. */
const shared = (number: number): Numbers => ({ x64: number, arm64: number })

/** Refused with any arguments: each accesses another process, leaves the namespaces, or exposes much of the kernel. */
export const REFUSED: Readonly<Record<string, Numbers>> = {
  ptrace: both(101, 117),
  process_vm_readv: both(310, 270),
  process_vm_writev: both(311, 271),
  kcmp: both(312, 272),
  pidfd_getfd: shared(438),
  unshare: both(272, 97),
  setns: both(308, 268),
  mount: both(165, 40),
  umount2: both(166, 39),
  pivot_root: both(155, 41),
  chroot: both(161, 51),
  open_tree: shared(428),
  move_mount: shared(429),
  fsopen: shared(430),
  fsconfig: shared(431),
  fsmount: shared(432),
  fspick: shared(433),
  mount_setattr: shared(442),
  open_tree_attr: shared(467),
  open_by_handle_at: both(304, 265),
  bpf: both(321, 280),
  perf_event_open: both(298, 241),
  userfaultfd: both(323, 282),
  // It opens sockets and files without system calls that a filter could check.
  io_uring_setup: shared(425),
  io_uring_enter: shared(426),
  io_uring_register: shared(427),
  add_key: both(248, 217),
  request_key: both(249, 218),
  keyctl: both(250, 219),
  kexec_load: both(246, 104),
  kexec_file_load: both(320, 294),
  init_module: both(175, 105),
  finit_module: both(313, 273),
  delete_module: both(176, 106),
  syslog: both(103, 116),
  quotactl: both(179, 60),
  quotactl_fd: shared(443),
  acct: both(163, 89),
  swapon: both(167, 224),
  swapoff: both(168, 225),
  reboot: both(169, 142),
  settimeofday: both(164, 170),
  clock_settime: both(227, 112),
  fanotify_init: both(300, 262),
  lookup_dcookie: both(212, 18),
  nfsservctl: both(180, 42),
  vhangup: both(153, 58),
  move_pages: both(279, 239),
  migrate_pages: both(256, 238),
  modify_ldt: both(154, undefined),
  iopl: both(172, undefined),
  ioperm: both(173, undefined),
  uselib: both(134, undefined),
  _sysctl: both(156, undefined),
}

/** Reported as missing: C libraries then use the older call, whose flags a filter can check. */
export const REPORTED_MISSING: Readonly<Record<string, Numbers>> = { clone3: shared(435) }

/** Allowed only with some arguments. */
export const FILTERED = {
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  clone: { x64: 56, arm64: 220 },
  ioctl: { x64: 16, arm64: 29 },
} as const
