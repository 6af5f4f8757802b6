import { useRef } from "react"
import type { Transcript } from "../../../client/index.ts"

/** A transcript without the parts that change with each piece of a reply. */
export type SettledTranscript = Omit<Transcript, "writing" | "thinking" | "cursor">

/** Returns the same object while only the reply grows, so that components that use it are not drawn again for each piece. */
export function useSettledTranscript({
  writing: _,
  thinking: _thinking,
  cursor: _cursor,
  ...rest
}: Transcript): SettledTranscript {
  const last = useRef<SettledTranscript>(rest)
  const names = Object.keys(rest) as (keyof SettledTranscript)[]
  if (names.some((name) => rest[name] !== last.current[name])) last.current = rest
  return last.current
}
