/**
 * The scripted model and tool of every contender, and the expected transcript of a turn.
 *
 * Turn i: user text i → a call of `lookup` → result i → final text i. A stream: `stream:N` → N small deltas, no call;
 * `stream:N/M` → only M of them in one turn of the event loop, as if they arrived over a network.
 * The model answers instantly and depends only on the last message: the measured cost is that of the runtime.
 */
export const TOOL = "lookup"
export const DELTA = "token "

export type Entry = readonly [kind: "user" | "call" | "result" | "text", text: string]

export type Decision =
  | { readonly type: "call"; readonly input: { readonly key: string; readonly fields: string } }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "deltas"; readonly count: number; readonly aTurn: number }

export type KillPoint = (typeof killPoints)[number]
export const killPoints = ["first-model-call", "tool", "second-model-call"] as const

/** The number of messages in the model's last request: W2 fails a contender that hides history from it. */
export const seen = { messages: 0 }

/** The position in a turn at which W0 kills the process. */
export const killAt: { point: KillPoint | undefined } = { point: undefined }

/**
 * The position at which W7 holds turns, so that a process can be killed in the middle of many. `text` identifies the
 * turn.
 */
export const heldUp: { at: ((point: KillPoint, text: string) => Promise<void> | undefined) | undefined } = {
  at: undefined,
}

export function decide(last: { readonly role: "user" | "tool"; readonly text: string }, messages: number): Decision {
  seen.messages = messages
  if (last.role === "tool") {
    dieAt("second-model-call")
    return { type: "text", text: finalText(numberIn(last.text, /customer-(\d+)/)) }
  }
  dieAt("first-model-call")
  if (last.text.startsWith("stream:")) {
    const [count, aTurn = Number.MAX_SAFE_INTEGER] = last.text.slice("stream:".length).split("/").map(Number)
    return { type: "deltas", count: count as number, aTurn }
  }
  return {
    type: "call",
    input: { key: `customer-${numberIn(last.text, /question (\d+)/)}`, fields: "name,plan,balance" },
  }
}

export function lookUp({ key }: { readonly key: string }): string {
  dieAt("tool")
  return resultText(Number(key.slice("customer-".length)))
}

/** The bare source of deltas, whose cost is subtracted. */
export async function* bareDeltas(count: number): AsyncGenerator<string> {
  for (let i = 0; i < count; i++) yield DELTA
}

export const streamPrompt = (count: number, aTurn?: number): string =>
  aTurn === undefined ? `stream:${count}` : `stream:${count}/${aTurn}`

/** The expected entries of the store after this many turns. */
export function expected(turns: number): Entry[] {
  return Array.from({ length: turns }, (_, i): Entry[] => [
    ["user", userText(i)],
    ["call", TOOL],
    ["result", resultText(i)],
    ["text", finalText(i)],
  ]).flat()
}

/** The entries that must survive a kill: everything that was acknowledged. */
export function survivorsOf(point: KillPoint): Entry[] {
  return expected(1).slice(0, killPoints.indexOf(point) + 1)
}

export const userText = remembered((i) => prose(`question ${i}:`, 160, 3 * i + 1))
export const finalText = remembered((i) => prose(`Here is what I found for ${i}:`, 400, 3 * i + 3))
const resultText = remembered((i) => `{"key":"customer-${i}","plan":"pro","notes":"${prose("note", 350, 3 * i + 2)}"}`)

function dieAt(point: KillPoint): void {
  if (killAt.point === point) process.kill(process.pid, "SIGKILL")
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1])
}

function remembered(make: (i: number) => string): (i: number) => string {
  const known = new Map<number, string>()
  return (i) => {
    let text = known.get(i)
    if (text === undefined) known.set(i, (text = make(i)))
    return text
  }
}

/** Deterministic prose: about as compressible as English, and different every turn. */
function prose(head: string, length: number, seed: number): string {
  let hash = (seed * 2654435761) >>> 0
  let text = head
  while (text.length < length) {
    hash = (Math.imul(hash ^ (hash >>> 15), 2246822519) + 3266489917) >>> 0
    text += ` ${vocabulary()[hash % 1500]}`
  }
  return `${text.slice(0, length - 1)}.`
}

let words: string[] | undefined

function vocabulary(): string[] {
  if (words) return words
  let state = 42
  const chance = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return state / 0x7fffffff
  }
  const letter = () => "etaoinshrdlucmfwypvbgk"[Math.floor(chance() ** 1.5 * 22)]
  words = Array.from({ length: 1500 }, () => Array.from({ length: 2 + Math.floor(chance() * 8) }, letter).join(""))
  return words
}
