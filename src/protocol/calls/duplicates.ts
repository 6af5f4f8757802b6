import { canonicalJson } from "../canonical-json.ts"
import type { CallId } from "../ids.ts"
import type { JsonObject } from "../schema.ts"

/** A call as its reply makes it. */
export interface MadeCall {
  readonly id: CallId
  readonly name: string
  readonly input: JsonObject
  /** Set where its arguments could not be read: then nobody knows whether it asks for the same as another. */
  readonly invalidInput?: string | undefined
}

/** By the ids of the duplicates among the calls of one reply: the call that each of them waits for. */
export function firstOfEach(calls: readonly MadeCall[]): ReadonlyMap<CallId, CallId> {
  const found = new Map<CallId, CallId>()
  if (calls.length < 2) return found
  const firsts = new Map<string, CallId>()
  for (const { id, name, input, invalidInput } of calls) {
    if (invalidInput !== undefined) continue
    const key = callKey(name, input)
    const first = firsts.get(key)
    if (first) found.set(id, first)
    else firsts.set(key, id)
  }
  return found
}

/** The same for two calls that ask the same thing, in whatever order their arguments were written. */
export function callKey(name: string, input: JsonObject): string {
  return `${name} ${canonicalJson(input)}`
}
