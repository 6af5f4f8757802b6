import { AUDIT_ARCHITECTURE, FILTERED, type Processor, REFUSED, REPORTED_MISSING } from "./system-calls.ts"

/** One instruction, as in `struct sock_filter`. Jumps count the skipped instructions. */
interface Step {
  readonly code: number
  readonly ifTrue: number
  readonly ifFalse: number
  readonly value: number
}

/** Offsets in `struct seccomp_data`: the number of the call, its architecture, and the lower half of its arguments. */
const NUMBER_AT = 0
const ARCHITECTURE_AT = 4
const argumentAt = (index: number) => 16 + 8 * index

const LOAD = 0x20
const AND = 0x54
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_LEAST = 0x35
const JUMP_IF_ANY_BIT = 0x45
const RETURN = 0x06

const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const refuseWith = (code: number) => 0x00050000 | code
const EPERM = 1
const EAFNOSUPPORT = 97
const ENOSYS = 38

/** Calls of the x32 ABI have this bit set, and report the architecture x86_64. */
const X32_BIT = 0x40000000

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16]
const [SOCK_STREAM, SOCK_SEQPACKET, SOCK_TYPE_MASK] = [1, 5, 0xf]
/** Namespaces of users, mounts, processes, networks, System V, host names and cgroups. */
const CLONE_NEW = 0x10000000 | 0x20000 | 0x20000000 | 0x40000000 | 0x8000000 | 0x4000000 | 0x2000000
/** ioctls that inject input into the terminal. */
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c]

/**
 * A classic BPF program that checks each system call of a command, for bubblewrap's `--seccomp`. It closes what
 * namespaces leave open: Unix sockets reach daemons that run as root, and sockets to the hypervisor or a radio ignore
 * network namespaces. A command may use IP (if it has a network), list routes, and create pairs of sockets that are
 * connected to each other and cannot connect to anything else.
 */
export function seccompFilter(processor: Processor): Buffer {
  return Buffer.concat(stepsFor(processor).map(toBytes))
}

export const hasFilter = (processor: string): processor is Processor => processor in AUDIT_ARCHITECTURE

function stepsFor(processor: Processor): Step[] {
  const numbered = ({ [processor]: number }: Readonly<Record<Processor, number | undefined>>) => number
  const all = (calls: typeof REFUSED) => Object.values(calls).flatMap((call) => numbered(call) ?? [])
  return [
    load(ARCHITECTURE_AT),
    // In a program of another architecture (32 bits), each number below would mean another call.
    ...unless(JUMP_IF_EQUAL, AUDIT_ARCHITECTURE[processor], [ret(KILL_PROCESS)]),
    load(NUMBER_AT),
    ...(processor === "x64" ? when(JUMP_IF_LEAST, X32_BIT, [ret(KILL_PROCESS)]) : []),
    ...all(REFUSED).flatMap((number) => when(JUMP_IF_EQUAL, number, [ret(refuseWith(EPERM))])),
    ...all(REPORTED_MISSING).flatMap((number) => when(JUMP_IF_EQUAL, number, [ret(refuseWith(ENOSYS))])),
    ...when(JUMP_IF_EQUAL, FILTERED.socket[processor], socketSteps),
    ...when(JUMP_IF_EQUAL, FILTERED.socketpair[processor], pairSteps),
    ...when(JUMP_IF_EQUAL, FILTERED.clone[processor], cloneSteps),
    ...when(JUMP_IF_EQUAL, FILTERED.ioctl[processor], ioctlSteps),
    ret(ALLOW),
  ]
}

const load = (at: number): Step => ({ code: LOAD, ifTrue: 0, ifFalse: 0, value: at })
const ret = (value: number): Step => ({ code: RETURN, ifTrue: 0, ifFalse: 0, value })
const when = (code: number, value: number, then: readonly Step[]): Step[] => [
  { code, ifTrue: 0, ifFalse: then.length, value },
  ...then,
]
const unless = (code: number, value: number, then: readonly Step[]): Step[] => [
  { code, ifTrue: then.length, ifFalse: 0, value },
  ...then,
]

const socketSteps: readonly Step[] = [
  load(argumentAt(0)),
  ...when(JUMP_IF_EQUAL, AF_INET, [ret(ALLOW)]),
  ...when(JUMP_IF_EQUAL, AF_INET6, [ret(ALLOW)]),
  // Netlink is allowed for protocol 0 only: routes, which list the machine's addresses.
  ...unless(JUMP_IF_EQUAL, AF_NETLINK, [ret(refuseWith(EAFNOSUPPORT))]),
  load(argumentAt(2)),
  ...when(JUMP_IF_EQUAL, 0, [ret(ALLOW)]),
  ret(refuseWith(EAFNOSUPPORT)),
]

/** Only stream pairs: a datagram socket of a pair could still send to another address. */
const pairSteps: readonly Step[] = [
  load(argumentAt(0)),
  ...unless(JUMP_IF_EQUAL, AF_UNIX, [ret(refuseWith(EAFNOSUPPORT))]),
  load(argumentAt(1)),
  { code: AND, ifTrue: 0, ifFalse: 0, value: SOCK_TYPE_MASK },
  ...when(JUMP_IF_EQUAL, SOCK_STREAM, [ret(ALLOW)]),
  ...when(JUMP_IF_EQUAL, SOCK_SEQPACKET, [ret(ALLOW)]),
  ret(refuseWith(EPERM)),
]

const cloneSteps: readonly Step[] = [
  load(argumentAt(0)),
  ...when(JUMP_IF_ANY_BIT, CLONE_NEW, [ret(refuseWith(EPERM))]),
  ret(ALLOW),
]

const ioctlSteps: readonly Step[] = [
  load(argumentAt(1)),
  ...when(JUMP_IF_EQUAL, TIOCSTI, [ret(refuseWith(EPERM))]),
  ...when(JUMP_IF_EQUAL, TIOCLINUX, [ret(refuseWith(EPERM))]),
  ret(ALLOW),
]

/** Both processors are little-endian. */
function toBytes({ code, ifTrue, ifFalse, value }: Step): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
