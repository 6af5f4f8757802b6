import type { MessageFile } from "../../protocol/conversation/message.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { Call, Conversation } from "../conversation.ts"
import { asOneLine } from "../untrusted-text.ts"
import type { Tool } from "../definition/tool.ts"

/**
 * Keeps untrusted text and private data apart. Untrusted text can contain instructions to a model, which usually aim at
 * the user's data. A conversation that has seen both sends nothing out without approval. This is permanent, because
 * what a model has read stays in its context.
 */
export function hasSeenOutsideAndPrivate({ hasSeen }: Seen): boolean {
  return hasSeen.brought === true || hasSeen.folder === true || hasSeenBoth(hasSeen)
}

const hasSeenBoth = ({ outside, private: own }: Conversation["hasSeen"]) => outside && own

/**
 * True if only a person may approve such a call. Changes of an untrusted folder and sandboxed commands keep their rules
 * if nothing but that folder was read: its text could already affect the folder.
 */
export function isDecidedByPerson({ hasSeen }: Seen, { staysIn }: Pick<Tool, "staysIn"> = {}): boolean {
  if (hasSeen.brought === true || hasSeenBoth(hasSeen)) return true
  return hasSeen.folder === true && staysIn !== "folder"
}

/** True if a result may contain untrusted text. */
export const hasUntrustedText = ({ brings }: Pick<EventOf<"tool_end">, "brings">): boolean =>
  brings !== undefined && brings !== "private"

type Seen = Pick<Conversation, "hasSeen">

/** Why approval is needed for a call that the mode or a grant would have covered. */
export function approvalReason({ hasSeen, state }: Pick<Conversation, "hasSeen" | "state">): string {
  if (isDecidedByPerson({ hasSeen }, { staysIn: "folder" }))
    return withSource("Asks because this conversation has read text that others may have written", hasSeen.outsideFrom)
  const folder = typeof state.folder === "string" ? asOneLine(state.folder) : undefined
  return withSource("Asks because this conversation has read files of a folder that you have not trusted", folder)
}

/** The source comes last: its name is untrusted and must not continue our sentence. */
const withSource = (reason: string, source: string | undefined) => (source ? `${reason}: ${source}` : `${reason}.`)

/** Records client context: untrusted documents or private data, which cannot be distinguished. */
export function noteContextSeen(conversation: Conversation, from: string): void {
  const { hasSeen } = conversation
  hasSeen.brought = true
  hasSeen.outsideFrom ??= from
  conversation.grants = new Map()
}

/** Records the files of a message as client context. A file of the work folder counts as if a tool had read it. */
export function noteFilesSeen(conversation: Conversation, files: readonly MessageFile[]): void {
  const other = files.find(({ folder }) => folder === undefined)
  if (other) noteContextSeen(conversation, `the file ${asOneLine(other.name)}`)
  if (files.some(({ folder }) => folder === "untrusted")) noteResultSeen(conversation, { brings: "folder" })
  else if (files.some(({ folder }) => folder === "trusted")) noteResultSeen(conversation, { brings: "private" })
}

/** Records the taint of a result. `source` names the call, if known. */
export function noteResultSeen(
  conversation: Conversation,
  { brings }: Pick<EventOf<"tool_end">, "brings">,
  source?: Pick<Call, "name" | "input">,
): void {
  if (brings === undefined) return
  const { hasSeen } = conversation
  if (brings === "folder") hasSeen.folder = true
  else if (brings !== "private") {
    hasSeen.outside = true
    if (source) hasSeen.outsideFrom ??= sourceOf(source)
  }
  if (brings !== "outside") hasSeen.private = true
  // From now on every call is decided separately, except those within a folder.
  if (isDecidedByPerson(conversation, { staysIn: "folder" })) conversation.grants = new Map()
}

const MAX_SOURCE = 80

/** The source that a call has read: the host of its address, or else the call in short, such as `get_note Trip`. */
function sourceOf({ name, input }: Pick<Call, "name" | "input">): string {
  const texts = Object.values(input).filter((value): value is string => typeof value === "string" && value !== "")
  const url = texts.map((text) => (/^https?:/i.test(text) ? URL.parse(text) : null)).find((found) => found !== null)
  const words = asOneLine(url ? `${url.host} (${name})` : [name, ...texts.slice(0, 1)].join(" "))
  return words.length > MAX_SOURCE ? `${words.slice(0, MAX_SOURCE)}…`.toWellFormed() : words
}
