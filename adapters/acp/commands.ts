import type { AvailableCommand, PromptResponse } from "@agentclientprotocol/sdk"
import { CONTINUE_TEXT, isCutShort } from "../../client/transcript/reply-text.ts"
import { lastUndoable } from "../../client/last-undoable.ts"
import { grantName } from "../../client/format.ts"
import { own } from "../../core/shared/text/json.ts"
import type { EditorConversation } from "./editor-conversation.ts"
import { PromptTurn } from "./prompt-turn.ts"

interface EditorCommand {
  readonly description: string
  /** The argument's placeholder. */
  readonly hint?: string
  run(conversation: EditorConversation, word: string, signal: AbortSignal): Promise<PromptResponse>
}

const AUDITED = 50

/** Commands of Pawl itself: `/name` in a prompt. */
const commands: Readonly<Record<string, EditorCommand>> = {
  undo: { description: "Propose to undo the last change of this conversation; not what a command did", run: undo },
  again: { description: "Propose once more what expired last", run: again },
  compact: { description: "Summarize the conversation to free context", run: compact },
  continue: { description: "Continue a reply that the output limit cut off", run: goOn },
  model: { description: "The models, or answer with this one from now on", hint: "NAME", run: model },
  grants: { description: "What you have agreed to beforehand; off takes it back", hint: "off", run: grants },
}

export const availableCommands: AvailableCommand[] = Object.entries(commands).map(([name, { description, hint }]) => ({
  name,
  description,
  ...(hint === undefined ? {} : { input: { hint } }),
}))

/** The command in a prompt; undefined for text for the model, such as a path that begins with a slash. */
export function commandIn(
  text: string,
): ((of: EditorConversation, signal: AbortSignal) => Promise<PromptResponse>) | undefined {
  const [name = "", ...args] = text.trim().split(/\s+/)
  const command = name.startsWith("/") ? own(commands, name.slice(1)) : undefined
  return command && ((conversation, signal) => command.run(conversation, args.join(" "), signal))
}

async function undo(conversation: EditorConversation, _word: string, signal: AbortSignal): Promise<PromptResponse> {
  const { client } = conversation.place
  const { items } = await client.listAudit({ query: { limit: AUDITED } })
  const { entry, warning } = lastUndoable(items, conversation.id)
  if (warning !== undefined) await conversation.say(`${warning}\n\n`)
  if (!entry) return say(conversation, "There is no change in this conversation that can be undone.")
  const turn = new PromptTurn(({ type, data }) => type === "run_started" && data.undoes === entry.id)
  return conversation.take(turn, signal, () => client.undoWrite({ params: { id: entry.id } }))
}

async function again(conversation: EditorConversation, _word: string, signal: AbortSignal): Promise<PromptResponse> {
  const { place, transcript } = conversation
  const last = transcript.items.findLast((item) => item.type === "proposal" && item.proposal.status === "expired")
  if (last?.type !== "proposal") return say(conversation, "Nothing in this conversation has expired.")
  const turn = new PromptTurn(({ type, data }) => type === "run_started" && data.again === last.proposal.id)
  return conversation.take(turn, signal, () => place.client.proposeAgain({ params: { id: last.proposal.id } }))
}

async function compact(conversation: EditorConversation, _word: string, signal: AbortSignal): Promise<PromptResponse> {
  const { place, id } = conversation
  const turn = new PromptTurn(({ type, data }) => type === "run_started" && data.compacts === true)
  return conversation.take(turn, signal, () => place.client.compactConversation({ params: { id } }))
}

/** The cut reply stays; the continuation is the next reply. */
async function goOn(conversation: EditorConversation, _word: string, signal: AbortSignal): Promise<PromptResponse> {
  const last = conversation.transcript.items.findLast((item) => item.type === "message")
  if (last?.type !== "message" || !isCutShort(last.message))
    return say(conversation, "The last reply was not cut: say what you want to hear.")
  return conversation.prompt({ text: CONTINUE_TEXT, files: [] }, signal)
}

async function model(conversation: EditorConversation, name: string): Promise<PromptResponse> {
  const { place, id } = conversation
  if (name !== "") {
    const chosen = await place.client.chooseModel({ params: { id }, body: { name } })
    return say(conversation, `${chosen.model ?? name} answers from now on.`)
  }
  const { items } = await place.client.listModels()
  const lines = items.map((each) => `- ${each.name}${each.available ? "" : ` (${each.need ?? "not available"})`}`)
  return say(conversation, `${lines.join("\n")}\n\n/model NAME chooses one.`)
}

async function grants(conversation: EditorConversation, word: string): Promise<PromptResponse> {
  const { place, id } = conversation
  const { items } = await place.client.listGrants({ params: { id } })
  if (items.length === 0)
    return say(conversation, "You have approved nothing in advance. Pawl asks before every change.")
  if (word === "off") {
    await place.client.revokeGrants({ params: { id } })
    return say(conversation, "Revoked. Pawl asks before every change again.")
  }
  const lines = items.map((grant) => `- ${grantName(grant)}: ${grant.left} of ${grant.uses} left`)
  return say(conversation, `${lines.join("\n")}\n\n/grants off takes it back.`)
}

async function say(conversation: EditorConversation, text: string): Promise<PromptResponse> {
  await conversation.say(text)
  return { stopReason: "end_turn" }
}
