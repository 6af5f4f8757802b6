import { describe, expect, test } from "vitest"
import { seccompFilter } from "./seccomp-filter.ts"
import { AUDIT_ARCHITECTURE, FILTERED, type Processor, REFUSED, REPORTED_MISSING } from "./system-calls.ts"

const ALLOWED = "allowed"
const NOT_PERMITTED = "errno 1"
const NO_SUCH_FAMILY = "errno 97"

interface Tried {
  readonly number: number
  readonly words?: readonly number[]
  readonly architecture?: number
}

/** The kernel's decision, computed by its machine for classic BPF, as far as the filter uses it. */
function judged(program: Buffer, { number, words = [], architecture = 0 }: Tried): string {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(architecture >>> 0, 4)
  for (const [index, word] of words.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(word)), 16 + 8 * index)
  let held = 0
  for (let at = 0; at < program.length / 8; at++) {
    const step = program.subarray(at * 8, at * 8 + 8)
    const [code, value] = [step.readUInt16LE(0), step.readUInt32LE(4)]
    const jump = (isTrue: boolean) => (at += step.readUInt8(isTrue ? 2 : 3))
    if (code === 0x20) held = data.readUInt32LE(value)
    else if (code === 0x54) held = (held & value) >>> 0
    else if (code === 0x15) jump(held === value)
    else if (code === 0x35) jump(held >= value)
    else if (code === 0x45) jump((held & value) !== 0)
    else if (code === 0x06) return toWord(value)
    else throw new Error(`step ${at} has a code that the kernel would refuse: ${code}`)
  }
  throw new Error("it ends without a verdict, which the kernel refuses")
}

function toWord(value: number): string {
  if (value === 0x7fff0000) return ALLOWED
  if (value === 0x80000000) return "killed"
  return `errno ${value & 0xffff}`
}

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_ALG, AF_VSOCK] = [1, 2, 10, 16, 38, 40]

describe.each<Processor>(["x64", "arm64"])("on %s", (processor) => {
  const program = seccompFilter(processor)
  const architecture = AUDIT_ARCHITECTURE[processor]
  const call = (number: number, ...words: number[]) => judged(program, { number, words, architecture })

  test("calls that access other processes, mount, or expose the kernel are refused", () => {
    for (const [name, { [processor]: number }] of Object.entries(REFUSED))
      if (number !== undefined) expect(call(number), name).toBe(NOT_PERMITTED)
    for (const { [processor]: number } of Object.values(REPORTED_MISSING))
      expect(call(number as number)).toBe("errno 38")
  })

  test("common calls are allowed", () => {
    // read, write, openat, execve, exit_group, futex, mmap, connect, bind, getrandom
    const usual = {
      x64: [0, 1, 257, 59, 231, 202, 9, 42, 49, 318],
      arm64: [63, 64, 56, 221, 94, 98, 222, 203, 200, 278],
    }
    for (const number of usual[processor]) expect(call(number), String(number)).toBe(ALLOWED)
  })

  test("sockets are limited to IP and routes, with any other bits in the argument", () => {
    const { [processor]: socket } = FILTERED.socket
    for (const family of [AF_INET, AF_INET6]) expect(call(socket, family, 1, 0)).toBe(ALLOWED)
    expect(call(socket, AF_NETLINK, 3, 0)).toBe(ALLOWED)
    expect(call(socket, AF_NETLINK, 3, 9)).toBe(NO_SUCH_FAMILY)
    for (const family of [0, AF_UNIX, 17, AF_ALG, AF_VSOCK, 44]) expect(call(socket, family, 1, 0)).toBe(NO_SUCH_FAMILY)
    // The kernel takes an int: what stands above its 32 bits makes no other family of it.
    expect(call(socket, 2 ** 40 + AF_UNIX, 1, 0)).toBe(NO_SUCH_FAMILY)
  })

  test("pairs of sockets must be stream sockets", () => {
    const { [processor]: pair } = FILTERED.socketpair
    const [STREAM, DATAGRAM, RAW, SEQPACKET, CLOEXEC] = [1, 2, 3, 5, 0o2000000]
    for (const type of [STREAM, SEQPACKET, STREAM | CLOEXEC]) expect(call(pair, AF_UNIX, type, 0)).toBe(ALLOWED)
    for (const type of [DATAGRAM, RAW, DATAGRAM | CLOEXEC]) expect(call(pair, AF_UNIX, type, 0)).toBe(NOT_PERMITTED)
    expect(call(pair, AF_INET, STREAM, 0)).toBe(NO_SUCH_FAMILY)
  })

  test("processes and threads can be created, but no namespaces, and terminal input cannot be injected", () => {
    const { [processor]: clone } = FILTERED.clone
    const [SIGCHLD, THREAD] = [17, 0x3d0f00]
    for (const flags of [SIGCHLD, THREAD]) expect(call(clone, flags)).toBe(ALLOWED)
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
      expect(call(clone, flag | SIGCHLD)).toBe(NOT_PERMITTED)
    const { [processor]: ioctl } = FILTERED.ioctl
    const [TCGETS, TIOCSTI, TIOCLINUX] = [0x5401, 0x5412, 0x541c]
    expect(call(ioctl, 0, TCGETS)).toBe(ALLOWED)
    for (const request of [TIOCSTI, TIOCLINUX, 2 ** 32 + TIOCSTI]) expect(call(ioctl, 0, request)).toBe(NOT_PERMITTED)
  })

  test("calls of another architecture end the process", () => {
    const [I386, ARM] = [0x40000003, 0x40000028]
    const other = AUDIT_ARCHITECTURE[processor === "x64" ? "arm64" : "x64"]
    for (const strange of [I386, ARM, other, 0])
      expect(judged(program, { number: 1, architecture: strange })).toBe("killed")
  })
})

test("on x86_64 calls of the x32 ABI end the process, too", () => {
  const program = seccompFilter("x64")
  const architecture = AUDIT_ARCHITECTURE.x64
  for (const number of [0x40000000, 0x40000001, 0x40000000 + 41, 0x40000000 + 521, 0xffffffff])
    expect(judged(program, { number, architecture })).toBe("killed")
})
