import { type Answer, failed, hasCode } from "../../core/pack.ts"

/** A row that is not there, or a name that two have, is an answer in words and no defect. */
export async function orSentence(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (hasCode(error, "row_missing") || hasCode(error, "bad_request")) return failed((error as Error).message)
    throw error
  }
}
