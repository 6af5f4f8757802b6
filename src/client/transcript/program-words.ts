import { clientNameOf } from "../../protocol/conversation/client-tools.ts"
import type { CallItem, Transcript } from "./transcript.ts"

/** Calls that only the program can end which has offered their tools. */
const callsOfPrograms = ({ items }: Pick<Transcript, "items">): readonly CallItem[] =>
  items.filter((item): item is CallItem => item.type === "call" && item.state === "handed_over" && !item.isOver)

interface Told {
  readonly now: number
  /** A moment as its reader writes it. */
  readonly toTime: (iso: string) => string
}

/**
 * What a person is told whose conversation waits for a program, and what they can do; undefined where it does not. Without
 * it they would see one that waits, and nothing to decide.
 */
export function programWords(transcript: Pick<Transcript, "items" | "status">, told: Told): string | undefined {
  const calls = transcript.status === "awaiting_confirmation" ? callsOfPrograms(transcript) : []
  if (calls.length === 0) return undefined
  const names = [...new Set(calls.map(({ name }) => clientNameOf(name) ?? name))].join(", ")
  const offered = `the program that has offered ${names}`
  const until = calls.flatMap(({ waitsUntil }) => waitsUntil ?? []).sort()
  const last = until.at(-1)
  // By this machine's clock: the server's own word comes with whatever is done next.
  if (last !== undefined && Date.parse(last) <= told.now)
    return `${offered[0]?.toUpperCase()}${offered.slice(1)} did not answer in time. ${WHAT_NOW}`
  return `Waits for ${offered}${last === undefined ? "" : `, until ${told.toTime(last)}`}. ${WHAT_NOW}`
}

const WHAT_NOW = "Say something to go on without it, or stop it."
