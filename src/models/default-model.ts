import { failure } from "../protocol/errors.ts"

export const OFFLINE = "offline"

/** A gateway has hundreds, and this is one sentence. */
const NAMED = 5

/**
 * The model of a conversation that chose none (MODEL-02): the operator's, else the offline one on a machine without any
 * provider. Where there are providers nobody guesses which of them may cost money.
 */
export function defaultModel(wanted: string | undefined, available: readonly string[], setting?: string): string {
  if (wanted) return wanted
  const choices = available.filter((name) => name !== OFFLINE)
  if (choices.length === 0) return OFFLINE
  const more = choices.length - NAMED
  const named = choices.slice(0, NAMED).join(", ")
  throw failure("no_model_selected", { choices: more > 0 ? `${named} and ${more} more` : named, setting })
}
