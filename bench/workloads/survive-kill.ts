import { type Numbers, same } from "../meters.ts"
import { type Contender, type OpenOptions } from "../contender.ts"
import { type KillPoint, killAt, killPoints, survivorsOf, userText } from "../script.ts"

type Open = (options?: Omit<OpenOptions, "place">) => Promise<Contender>

const idOf = (point: KillPoint) => `conv_killed-${point}`

/** W0, a process that is killed at this point of a turn, without time to save anything. */
export async function dieInTurn(open: Open, { point }: { point: KillPoint }): Promise<Numbers> {
  const contender = await open()
  killAt.point = point
  await contender.turn(idOf(point), userText(0), true)
  throw new Error(`still alive after ${point}`)
}

/** W0, the process that reads: the number of points at which something was lost or changed. */
export async function countSurvivors(open: Open): Promise<Numbers> {
  const contender = await open()
  let lost = 0
  for (const point of killPoints) {
    const found = await contender.transcript(idOf(point)).catch(() => [])
    if (!same(found, survivorsOf(point))) lost++
  }
  await contender.close()
  return { lost }
}
