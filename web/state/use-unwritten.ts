import { useRef } from "react"
import type { Transcript } from "../../src/client/index.ts"

/** A transcript without what changes with each piece of a reply. */
export type Unwritten = Omit<Transcript, "writing" | "thinking" | "cursor">

/** The same object for as long as nothing but the reply grows: what is drawn from it rests while a reply is written. */
export function useUnwritten({ writing: _, thinking: _thinking, cursor: _cursor, ...rest }: Transcript): Unwritten {
  const last = useRef<Unwritten>(rest)
  const names = Object.keys(rest) as (keyof Unwritten)[]
  if (names.some((name) => rest[name] !== last.current[name])) last.current = rest
  return last.current
}
