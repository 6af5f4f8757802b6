import { createHash } from "node:crypto"

/**
 * CPU time that the piece of work below takes on the machine that bounds in milliseconds and microseconds were set for: one
 * core of a Neoverse-N1 (arm64), Node 24, nothing else running.
 */
const REFERENCE_MS = 21
const TRIES = 15

/**
 * How many times as long as there a piece of work takes here; 1 on a machine that is faster. A bound in time is a bound for one
 * machine: multiplied by this it is a ratio, and means the same on x86_64 and arm64. By CPU time, and the best of some: what
 * else runs meanwhile must not excuse us.
 */
export function slowness(): number {
  return Math.max(1, workMs() / REFERENCE_MS)
}

function workMs(): number {
  return Math.min(...Array.from({ length: TRIES }, once))
}

/** Typical work of a server: JSON, texts, maps, sorting, a hash. */
function once(): number {
  const begun = threadMs()
  const rows = Array.from({ length: 2000 }, (_, i) => ({
    id: `row_${(i * 7919) % 2000}`,
    text: `text ${i} `.repeat(8),
    i,
  }))
  let size = 0
  for (let round = 0; round < 5; round++) {
    const read = JSON.parse(JSON.stringify(rows)) as typeof rows
    const byId = new Map(read.map((row) => [row.id, row]))
    read.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    size += byId.size + createHash("sha256").update(JSON.stringify(read)).digest().length
  }
  if (size === 0) throw new Error("nothing was done")
  return threadMs() - begun
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
