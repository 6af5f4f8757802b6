import { createHash } from "node:crypto"
import type { RunId } from "../protocol/ids.ts"

const digest = (text: string, digits: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, digits)

/**
 * Ids follow from the run and from what the journal says of it, and from nothing else: whichever process tells a span, it
 * has this id, and a process that takes over goes on with the same trace without having been told of it.
 */
export const traceIdOf = (run: RunId): string => digest(`trace ${run}`, 32)

/** `what` is unique within the run: a kind and a position of the journal, or the id of a call. */
export const spanIdOf = (run: RunId, what: string): string => digest(`span ${run} ${what}`, 16)

/** The span of the run itself, that of which all others are parts. */
export const rootIdOf = (run: RunId): string => spanIdOf(run, "run")
