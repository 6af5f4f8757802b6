import { type Contender, type OpenOptions, type VariantName } from "../contender.ts"
import type { OpenedEngine } from "../engine.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { Served } from "../contenders/pawl-server.ts"
import { check, type Numbers, same } from "../meters.ts"
import { finalText, heldUp, killPoints, userText } from "../script.ts"
import type { Sizes } from "../sizes.ts"

type Open = (options?: Omit<OpenOptions, "place">) => Promise<Contender>

const idOf = (i: number) => `conv_r${i}`

/**
 * W7, the process that is killed: many turns are in progress, a third each in the first model call, the tool and the
 * second one.
 */
export async function dieInMany(open: Open, { running }: Sizes["w7"], variant: VariantName): Promise<Numbers> {
  const contender = await open()
  if (variant.startsWith("floor-")) {
    // The floor has no turn in progress: all of its turns stop between the call and its result.
    for (let i = 0; i < running; i++) await contender.pause(idOf(i), userText(i))
  } else {
    await holdUp(contender, running)
  }
  process.kill(process.pid, "SIGKILL")
  throw new Error("still alive")
}

function holdUp(contender: Contender, running: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let held = 0
    heldUp.at = (point, text) => {
      const i = Number(/(?:question |customer-)(\d+)/.exec(text)?.[1])
      if (killPoints[i % killPoints.length] !== point) return undefined
      if (++held === running) resolve()
      return new Promise(() => {})
    }
    for (let i = 0; i < running; i++) contender.turn(idOf(i), userText(i), true).catch(reject)
  })
}

/**
 * The restart of W7: the time from "listening" to the first conversation that has made progress, and to the last. An
 * event that reports the interruption is not progress; durable output of the model or a tool is.
 */
export async function startAgain(
  serve: (before: (pawl: OpenedEngine) => void) => Promise<Served>,
  { running }: Sizes["w7"],
): Promise<Numbers> {
  const moved = new Set<ConversationId>()
  const allMoved = Promise.withResolvers<void>()
  let [firstAt, allAt] = [Number.NaN, Number.NaN]
  const served = await serve(({ ports }) => {
    const { publish } = ports.bus
    ports.bus.publish = (id, live) => {
      publish.call(ports.bus, id, live)
      if (live.type !== "events" || live.events.every(({ type }) => type === "restarted") || moved.has(id)) return
      moved.add(id)
      if (moved.size === 1) firstAt = performance.now()
      if (moved.size < running) return
      allAt = performance.now()
      allMoved.resolve()
    }
  })
  await using _ = served
  const readyMs = performance.now()
  await allMoved.promise
  const { runtime, ports } = served.pawl
  for (const id of moved) {
    await runtime.rest(id)
    const i = Number(id.slice(idOf(0).length - 1))
    const { history } = await ports.journal.load(id, true)
    const said = history.at(-1)
    check(said?.role === "assistant" && same(said.parts, [{ type: "text", text: finalText(i) }]), `how ${id} ended`)
  }
  // Progress before the server reports that it listens counts as immediate.
  return { firstMs: Math.max(0, firstAt - readyMs), allMs: Math.max(0, allAt - readyMs), readyMs, sinceStartMs: allAt }
}

/** W7 of the floor: it knows its open work and continues it one after the other. */
export async function goOn(open: Open, { running }: Sizes["w7"]): Promise<Numbers> {
  const contender = await open()
  const readyMs = performance.now()
  let firstMs = Number.NaN
  for (let i = 0; i < running; i++) {
    check((await contender.resume(idOf(i))) === finalText(i), `the answer of ${idOf(i)}`)
    if (i === 0) firstMs = performance.now() - readyMs
  }
  const sinceStartMs = performance.now()
  await contender.close()
  return { firstMs, allMs: sinceStartMs - readyMs, readyMs, sinceStartMs }
}
