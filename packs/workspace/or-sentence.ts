import { type Answer, failed, hasCode } from "../../core/pack.ts"

/** Turns a missing row or an ambiguous name into an error answer for the model, because it is not a bug. */
export async function orSentence(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (hasCode(error, "row_missing") || hasCode(error, "bad_request")) return failed((error as Error).message)
    throw error
  }
}
