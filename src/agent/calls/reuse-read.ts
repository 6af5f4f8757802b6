import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { CallId } from "../../protocol/ids.ts"
import type { JsonObject } from "../../protocol/schema.ts"

/** The answer of a read that the run may use again. */
export interface ReusableRead {
  readonly callId: CallId
  readonly name: string
  readonly input: JsonObject
  readonly text: string
  readonly data: unknown
  /** What it held, which it holds again. */
  readonly brings: "outside" | "private" | "both" | undefined
}

/** The newest answer to the same question, if there is one. Compared here and not indexed: hardly any read comes twice. */
export function findRead(
  reads: readonly ReusableRead[],
  call: { readonly name: string; readonly input: JsonObject },
): ReusableRead | undefined {
  const candidates = reads.filter(({ name }) => name === call.name)
  if (candidates.length === 0) return undefined
  const asked = canonicalJson(call.input)
  return candidates.findLast(({ input }) => canonicalJson(input) === asked)
}
