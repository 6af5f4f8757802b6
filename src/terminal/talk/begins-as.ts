import type { ConversationDetail } from "../../protocol/answers.ts"
import type { StartChoices, TerminalServer } from "../terminal-server.ts"

/** What a conversation begins with: what its person chose, in the place where the terminal works. */
export function beginsAs(begins: TerminalServer["begins"], choices: StartChoices, title: string | undefined) {
  const { agent: usual, ...place } = begins
  const { agent = usual, model, mode, fallback, settings } = choices
  // Another agent than the one of the folder has nothing to do on this machine.
  const where = agent === usual ? place : {}
  const given = { ...(agent ? { agent } : {}), ...(model ? { model } : {}), ...(title ? { title } : {}) }
  return { ...given, mode, settings, ...where, ...(fallback ? { fallback } : {}) }
}

/** What the next conversation begins with after this one. */
export function startChoicesOf({ agent, model, modelChosen, mode, settings }: ConversationDetail): StartChoices {
  // Only a model that somebody chose: the next one must not be tied to what is the default today.
  return { agent, model: modelChosen === false ? undefined : (model ?? undefined), mode, settings }
}
