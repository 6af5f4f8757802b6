import { randomBytes } from "node:crypto"
import type { StatsFs } from "node:fs"
import { open, rm, statfs } from "node:fs/promises"
import { join } from "node:path"
import type { Finding } from "./finding.ts"

const GIGABYTE = 1_000_000_000
/** With less a day's work may not fit. */
const LITTLE_BYTES = GIGABYTE
/** With less the next files do not. */
const NEARLY_NONE_BYTES = 100_000_000
/** Commits share an fsync, so that this is about how long somebody waits for an acknowledgement. */
const SLOW_MS = 50
/** Of file systems that live in memory, as the system numbers them. */
const TMPFS = 0x01021994
const PROBE_BYTES = 64 * 1024

interface DiskLook {
  readonly look?: (folder: string) => Promise<Pick<StatsFs, "bavail" | "bsize" | "type">>
  readonly now?: () => number
}

/** Whether what is written into a folder can be kept there, found out by keeping something, and how long that takes. */
export async function* examineDisk(
  name: string,
  folder: string,
  { look = statfs, now = () => performance.now() }: DiskLook = {},
): AsyncGenerator<Finding> {
  try {
    const { bavail, bsize, type } = await look(folder)
    const free = bavail * bsize
    const ms = await probe(folder, now)
    yield [markOf(free), `${name}: ${folder}, ${inGigabytes(free)} free${adviceOf(free)}`]
    yield ms > SLOW_MS
      ? [
          "note",
          `${name}: a write with fsync takes ${ms.toFixed(1)} ms there; every acknowledgement waits for one, so use a faster disk`,
        ]
      : ["ok", `${name}: a write with fsync takes ${ms.toFixed(1)} ms there`]
    if (type === TMPFS)
      yield ["note", `${name}: ${folder} is in memory and gone with the machine; name a folder on a disk`]
  } catch (error) {
    yield [
      "wrong",
      `${name}: nothing can be kept in ${folder}: ${(error as Error).message}; see to its rights and its disk`,
    ]
  }
}

async function probe(folder: string, now: () => number): Promise<number> {
  const path = join(folder, `.doctor-${randomBytes(6).toString("hex")}`)
  const began = now()
  try {
    const file = await open(path, "wx", 0o600)
    try {
      await file.write(Buffer.alloc(PROBE_BYTES, 1))
      await file.sync()
    } finally {
      await file.close()
    }
    return now() - began
  } finally {
    await rm(path, { force: true })
  }
}

function markOf(free: number): Finding[0] {
  if (free < NEARLY_NONE_BYTES) return "wrong"
  return free < LITTLE_BYTES ? "note" : "ok"
}

const adviceOf = (free: number): string => (free < LITTLE_BYTES ? "; make room, or writes will be refused" : "")

const inGigabytes = (bytes: number): string => `${(bytes / GIGABYTE).toFixed(1)} GB`
