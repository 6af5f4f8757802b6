import { setTimeout as sleep } from "node:timers/promises"
import type { Place, VariantName } from "../contender.ts"
import { openContender } from "../open-contender.ts"
import type { Numbers } from "../meters.ts"

const MB = 1024 * 1024

/**
 * W5: from the start of a process to the first answer, with only the contender loaded. The parent measures the time.
 */
export async function coldStart(name: VariantName, place: Place): Promise<Numbers> {
  const contender = await openContender(name, { place })
  const openedMs = performance.now()
  const { finalText, userText } = await import("../script.ts")
  const text = await contender.turn("conv_cold", userText(0), true)
  const firstTurnMs = performance.now() - openedMs
  if (text !== finalText(0)) throw new Error("the answer of the first turn")
  process.stdout.write("first turn\n")
  await sleep(300)
  return { openedMs, firstTurnMs, rssMb: process.memoryUsage().rss / MB }
}
