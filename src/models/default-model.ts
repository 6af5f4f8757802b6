import { failure } from "../protocol/errors.ts"

export const OFFLINE = "offline"

/**
 * The model of a conversation that chose none (MODEL-02): the operator's, else the offline one on a machine without any
 * provider. Where there are providers nobody guesses which of them may cost money.
 */
export function defaultModel(wanted: string | undefined, available: readonly string[]): string {
  if (wanted) return wanted
  const choices = available.filter((name) => name !== OFFLINE)
  if (choices.length === 0) return OFFLINE
  throw failure("no_model_selected", { choices: choices.join(", ") })
}
