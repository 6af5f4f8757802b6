import type { MessageFile } from "../../protocol/conversation/message.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { Call, Conversation } from "../conversation.ts"
import { asOneLine } from "../untrusted-text.ts"
import type { Tool } from "../definition/tool.ts"

/**
 * Outside and private kept apart. Words of others can hold orders to a model, and the person's data is
 * what such orders are after: a conversation that has seen both sends nothing out unseen. It stays one for good, because
 * what a model has read it cannot forget.
 */
export function hasSeenOutsideAndPrivate({ hasSeen }: Seen): boolean {
  return hasSeen.brought === true || hasSeen.folder === true || hasSeenBoth(hasSeen)
}

const hasSeenBoth = ({ outside, private: own }: Conversation["hasSeen"]) => outside && own

/**
 * Whether nothing but a person approves such a call. A change within a folder that is not trusted, and a sandboxed command,
 * stay as they were if nothing but that folder was read: what its text could have done is done to the folder.
 */
export function isDecidedByPerson({ hasSeen }: Seen, { staysIn }: Pick<Tool, "staysIn"> = {}): boolean {
  if (hasSeen.brought === true || hasSeenBoth(hasSeen)) return true
  return hasSeen.folder === true && staysIn !== "folder"
}

/** Whether a result may contain text of others. */
export const hasTextOfOthers = ({ brings }: Pick<EventOf<"tool_end">, "brings">): boolean =>
  brings !== undefined && brings !== "private"

type Seen = Pick<Conversation, "hasSeen">

/** Why a person is asked about a call that the mode or a grant would have approved. */
export function whyAsked({ hasSeen, state }: Pick<Conversation, "hasSeen" | "state">): string {
  if (isDecidedByPerson({ hasSeen }, { staysIn: "folder" }))
    return withSource("Asks because this conversation has read text that others may have written", hasSeen.outsideFrom)
  const folder = typeof state.folder === "string" ? asOneLine(state.folder) : undefined
  return withSource("Asks because this conversation has read files of a folder that you have not trusted", folder)
}

/** The source last: its name, which others may have chosen, continues no sentence of ours. */
const withSource = (reason: string, source: string | undefined) => (source ? `${reason}: ${source}` : `${reason}.`)

/** Whether a call is shown to a person or decided by policy before it runs. */
export function isGated(conversation: Seen, tool: Tool | undefined): boolean {
  return tool?.effect === "write" || (tool?.egress === true && hasSeenOutsideAndPrivate(conversation))
}

/** Records what a client has sent along: documents of others, or the person's own things, which cannot be told apart. */
export function noteBroughtSeen(conversation: Conversation, from: string): void {
  const { hasSeen } = conversation
  hasSeen.brought = true
  hasSeen.outsideFrom ??= from
  conversation.grants = new Map()
}

/**
 * Records the files of a message. Others may have written one, or it is the person's own: like what a client sends along. What is
 * known of a file of the work folder is the same as if a tool had read it there.
 */
export function noteFilesSeen(conversation: Conversation, files: readonly MessageFile[]): void {
  const other = files.find(({ folder }) => folder === undefined)
  if (other) noteBroughtSeen(conversation, `the file ${asOneLine(other.name)}`)
  if (files.some(({ folder }) => folder === "untrusted")) noteResultSeen(conversation, { brings: "folder" })
  else if (files.some(({ folder }) => folder === "trusted")) noteResultSeen(conversation, { brings: "private" })
}

/** Records what a result has brought. `source` names the call, if it is known. */
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
  // From here on every call is decided by itself, but for those within a folder.
  if (isDecidedByPerson(conversation, { staysIn: "folder" })) conversation.grants = new Map()
}

const MAX_SOURCE = 80

/** What a call has read: the host of its address, or else the call in a few words, such as `get_note Trip`. */
function sourceOf({ name, input }: Pick<Call, "name" | "input">): string {
  const texts = Object.values(input).filter((value): value is string => typeof value === "string" && value !== "")
  const url = texts.map((text) => (/^https?:/i.test(text) ? URL.parse(text) : null)).find((found) => found !== null)
  const words = asOneLine(url ? `${url.host} (${name})` : [name, ...texts.slice(0, 1)].join(" "))
  return words.length > MAX_SOURCE ? `${words.slice(0, MAX_SOURCE)}…`.toWellFormed() : words
}
