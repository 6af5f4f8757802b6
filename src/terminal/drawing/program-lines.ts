import { programWords } from "../../client/transcript/program-words.ts"
import type { Transcript } from "../../client/transcript/transcript.ts"
import { type Line, line } from "../line.ts"
import { toShown } from "../shown.ts"
import { wrap } from "../wrap.ts"

/** That it waits for a program and not for the person, and how to go on; there is no card that would say so. */
export function programLines(transcript: Transcript, now: number, columns: number): Line[] {
  const says = programWords(transcript, { now, toTime: toTimeOfDay })
  return says === undefined ? [] : wrap(line(toShown(`… ${says} Esc stops.`), { colour: "yellow" }), columns)
}

export const toTimeOfDay = (iso: string): string =>
  new Date(iso).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
