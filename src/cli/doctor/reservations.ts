import { readFileSync } from "node:fs"
import type { Finding } from "./finding.ts"

const GIGABYTE = 2 ** 30
/** On x86_64 1.4 GB for the process and 0.6 for each of its threads, ten at most; on arm64 1 GB and 0.4. */
const ENOUGH_BYTES = 8 * GIGABYTE
/** As the system calls them, and as a shell does. */
const BOUNDS = { "Max address space": "ulimit -v", "Max data size": "ulimit -d" }

/**
 * Whether Node may reserve what it reserves, most of which it never holds. One thread too many does not fail then: it ends
 * the whole process, in the middle of whatever it does. Nothing is said where the system tells nothing.
 */
export function* examineReservations(limits = readLimits()): Generator<Finding> {
  for (const [name, flag] of Object.entries(BOUNDS)) {
    const line = limits.split("\n").find((each) => each.startsWith(name))
    // Not a number is "unlimited", which is not less than anything.
    const bytes = Number(line?.slice(name.length).trim().split(" ")[0])
    if (bytes < ENOUGH_BYTES)
      yield [
        "note",
        `memory: no more than ${(bytes / GIGABYTE).toFixed(1)} GB may be reserved here (${flag}), and Node reserves far more than it ` +
          `holds: a thread that finds no room ends the server; bound what it holds instead, as containers do`,
      ]
  }
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8")
  } catch {
    return "" // another system than Linux
  }
}
