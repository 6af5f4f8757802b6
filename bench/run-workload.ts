import type { Part } from "./child.ts"
import { needsPostgres, type Place, type VariantName } from "./contender.ts"
import { median, type Numbers } from "./meters.ts"
import type { Places } from "./places.ts"
import { killPoints } from "./script.ts"
import type { Sizes } from "./sizes.ts"
import { type Ended, spawnChild } from "./spawn-child.ts"
import { promptCost } from "./workloads/prompt-cost.ts"
import { emptyStart, promptStart } from "./workloads/prompt-start.ts"
import { twoServers } from "./workloads/two-servers.ts"
import { watchOnOtherNode } from "./workloads/watch-on-other-node.ts"

export const workloads = [
  ...(["w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"] as const),
  ...(["w8", "w9", "w10", "w11", "w12", "w13", "w14"] as const),
] as const
export type Workload = (typeof workloads)[number]

export interface Run {
  readonly workload: Workload
  readonly variant: VariantName
  readonly sizes: Sizes
  readonly places: Places
  readonly flags?: readonly string[]
  /** Set for a profile that names sources. Default: the published bundle runs. */
  readonly isFromSource?: boolean
}

/** Workloads that need other files next to their sources. */
const FROM_SOURCE: readonly Workload[] = ["w6", "w8", "w13", "w14"]

/** Needed for heap figures, and to avoid forced garbage collections in a small heap. */
const FLAGS = ["--expose-gc", "--max-old-space-size=4096"]

/** Runs one workload of one contender in new processes with a new folder. */
export async function runWorkload(run: Run): Promise<Numbers> {
  if (run.workload === "w5") return coldStarts(run)
  // Without a floor: the cost for a node's own watchers is part of ours, and a bound in milliseconds needs no floor.
  if ((run.workload === "w11" || run.workload === "w12") && run.variant.startsWith("floor-")) return {}
  if (run.workload === "w11") return await watchOnOtherNode(run.sizes.w11)
  await using place = await run.places.open(run.variant)
  if (run.workload === "w12") return await twoServers(place, await run.places.package(), run.sizes.w12)
  if (run.workload === "w9")
    return run.variant.startsWith("floor-")
      ? await emptyStart(place.folder, run.sizes.w9.starts)
      : await promptStart(await run.places.package(), place.folder, run.sizes.w9.starts)
  if (run.workload === "w10") return await promptCost(run.variant.startsWith("floor-"), place.folder)
  return await runAt(place, run.workload, run)
}

async function runAt(
  place: Place,
  workload: Exclude<Workload, "w5" | "w9" | "w10" | "w11" | "w12">,
  run: Run,
): Promise<Numbers> {
  const { variant, sizes } = run
  const flags = [...FLAGS, ...(run.flags ?? [])]
  const isFromSource = run.isFromSource || FROM_SOURCE.includes(workload)
  const script = isFromSource ? {} : { script: await run.places.bundle() }
  const child = async (part: Part, settings: object = {}) =>
    (await spawnChild({ part, variant, place, settings, flags, ...script })).numbers
  switch (workload) {
    case "w0":
      for (const point of killPoints) await child("w0-die", { point })
      return child("w0-read")
    case "w1":
      return child("w1", { ...sizes.w1, countsQueries: needsPostgres(variant) })
    case "w2":
      return child("w2", sizes.w2)
    case "w3":
      return child("w3", sizes.w3)
    case "w4": {
      const settings = { ...sizes.w4, folder: place.folder }
      return { ...(await child("w4-pause", settings)), ...(await child("w4-resume", settings)) }
    }
    case "w6":
      return child("w6", sizes.w6)
    case "w7":
      await child("w7-die", sizes.w7)
      return child("w7-again", sizes.w7)
    case "w8":
      return child("w8", sizes.w8)
    case "w13":
      return child("w13", sizes.w13)
    case "w14":
      return child("w14", sizes.w14)
  }
}

/**
 * Without flags and warm-up, except for the first start, which fills the system's file cache. Returns the median of the
 * others.
 */
async function coldStarts({ variant, sizes, places, flags = [] }: Run): Promise<Numbers> {
  const starts: Ended[] = []
  const script = await places.bundle()
  for (let i = 0; i < sizes.w5.starts; i++) {
    await using place = await places.open(variant)
    starts.push(await spawnChild({ part: "w5", variant, place, flags, script }))
  }
  const counted = starts.slice(sizes.w5.starts > 1 ? 1 : 0)
  const of = (name: string) => median(counted.map(({ numbers }) => numbers[name] as number))
  return {
    startMs: median(counted.map(({ firstLineMs }) => firstLineMs)),
    openedMs: of("openedMs"),
    firstTurnMs: of("firstTurnMs"),
    rssMb: of("rssMb"),
  }
}
