import type { Contender } from "../contender.ts"
import { bytesWritten, check, cpuMs, mean, median, type Numbers, same } from "../meters.ts"
import { expected, finalText, seen, userText } from "../script.ts"
import type { Sizes } from "../sizes.ts"

const ID = "conv_grow"

/**
 * W2: one growing conversation. Compares time between the first and the last eighth of its turns, and bytes between the
 * first and the last quarter, so that each includes some of the database's checkpoints.
 */
export async function longConversation(
  open: () => Promise<Contender>,
  { warmMs, turns }: Sizes["w2"],
): Promise<Numbers> {
  const contender = await open()
  await warmUp(contender, warmMs)
  const times: number[] = []
  const cpu: number[] = []
  const written = [bytesWritten()]
  for (let turn = 0; turn < turns; turn++) {
    const [from, cpuFrom] = [performance.now(), cpuMs()]
    const text = await contender.turn(ID, userText(turn), turn === 0)
    times.push(performance.now() - from)
    cpu.push(cpuMs() - cpuFrom)
    check(text === finalText(turn), `the answer of turn ${turn}`)
    if ((turn + 1) % (turns / 4) === 0) written.push(bytesWritten())
  }
  check(seen.messages === turns * 4 - 1, `the model saw ${seen.messages} of ${turns * 4 - 1} messages`)
  await contender.close()

  const again = await open()
  const from = performance.now()
  const stored = await again.transcript(ID)
  const readBackMs = performance.now() - from
  check(same(stored, expected(turns)), `the transcript after ${turns} turns`)
  await again.close()

  const eighth = turns / 8
  const [early, late] = [median(times.slice(0, eighth)), median(times.slice(-eighth))]
  const quarters = written.slice(1).map((bytes, i) => (bytes - (written[i] as number)) / (turns / 4))
  const [firstQuarter, lastQuarter] = [quarters.at(0) as number, quarters.at(-1) as number]
  return {
    early,
    late,
    growth: late / early,
    lateCpu: mean(cpu.slice(-eighth)),
    lateKb: lastQuarter / 1024,
    bytesGrowth: lastQuarter / firstQuarter,
    readBackMs,
  }
}

/** Runs other conversations of the same length first, so that code is compiled before the measurement. */
async function warmUp(contender: Contender, warmMs: number): Promise<void> {
  const end = performance.now() + warmMs
  for (let i = 0; performance.now() < end; i++) {
    for (let turn = 0; turn < 20; turn++) await contender.turn(`conv_warm${i}`, userText(turn), turn === 0)
  }
}
