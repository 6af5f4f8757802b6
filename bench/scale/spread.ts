import { SLOTS } from "../../core/protocol/ids.ts"
import { chance } from "./events.ts"

export interface Population {
  readonly people: number
  /** The share of people who are `times` as active as the others. */
  readonly busyShare: number
  readonly times: number
  readonly seed: number
}

/** The load of each slot. People are assigned to slots at random, as by their ids. */
export function loadOfSlots({ people, busyShare, times, seed }: Population): Float64Array {
  const random = chance(seed)
  const slots = new Float64Array(SLOTS)
  for (let i = 0; i < people; i++) slots[Math.floor(random() * SLOTS)]! += random() < busyShare ? times : 1
  return slots
}

/** The initial assignment of slots to databases: equally many consecutive slots each. */
export const evenly = (shards: number): number[] =>
  Array.from({ length: SLOTS }, (_, slot) => Math.floor((slot * shards) / SLOTS))

export function loadOfShards(slots: Float64Array, shardOf: readonly number[], shards: number): number[] {
  const loads = Array.from({ length: shards }, () => 0)
  for (const [slot, load] of slots.entries()) loads[shardOf[slot]!]! += load
  return loads
}

/** The load of the busiest database relative to the mean: 1.2 is a fifth more. */
export const worst = (loads: readonly number[]): number =>
  (Math.max(...loads) * loads.length) / loads.reduce((sum, load) => sum + load, 0)

/** Moves slots from the busiest to the least busy until no database has more than `most` times the mean. */
export function rebalance(slots: Float64Array, shards: number, most: number): { moved: number; worst: number } {
  const shardOf = evenly(shards)
  const loads = loadOfShards(slots, shardOf, shards)
  const mean = loads.reduce((sum, load) => sum + load, 0) / shards
  for (let moved = 0; ; moved++) {
    const [from, to] = [loads.indexOf(Math.max(...loads)), loads.indexOf(Math.min(...loads))]
    const room = Math.min(loads[from]! - mean, mean - loads[to]!)
    if (loads[from]! <= most * mean) return { moved, worst: worst(loads) }
    // The largest slot that makes neither database worse.
    let best = -1
    for (const [slot, load] of slots.entries())
      if (shardOf[slot] === from && load <= Math.max(room, 0) && (best < 0 || load > slots[best]!)) best = slot
    if (best < 0 || slots[best] === 0) return { moved, worst: worst(loads) }
    shardOf[best] = to
    loads[from]! -= slots[best]!
    loads[to]! += slots[best]!
  }
}

export interface Move {
  readonly bytes: number
  readonly bytesPerSecond: number
  /** The writes of its users per second. */
  readonly writtenPerSecond: number
  /** When copying the rest takes less time than this, the slot is fenced and the rest is copied. */
  readonly fenceBelowSeconds: number
}

/** Copies a slot while it is in use, in passes. Each copies what was written during the previous pass. */
export function moveOfSlot({ bytes, bytesPerSecond, writtenPerSecond, fenceBelowSeconds }: Move) {
  let left = bytes / bytesPerSecond
  let [seconds, passes] = [0, 0]
  while (left > fenceBelowSeconds && passes < 50) {
    seconds += left
    left = (left * writtenPerSecond) / bytesPerSecond
    passes++
  }
  return { passes, seconds, fencedSeconds: left }
}
