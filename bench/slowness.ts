import { createHash } from "node:crypto"

/**
 * The CPU time of the piece of work below on the reference machine, for which the bounds in time were set: one core of
 * a Neoverse-N1 (arm64), Node 24, otherwise idle.
 */
const REFERENCE_MS = 21
const TRIES = 15

/**
 * How much longer than on the reference machine a piece of work takes here; at least 1. A bound in time is for one
 * machine: multiplied by this it means the same on x86_64 and arm64. Uses CPU time and the best of several tries, so
 * that other programs do not raise the bound.
 */
export function slowness(): number {
  return Math.max(1, workMs() / REFERENCE_MS)
}

function workMs(): number {
  return Math.min(...Array.from({ length: TRIES }, once))
}

/** Typical work of a server: JSON, strings, maps, sorting, a hash. */
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
