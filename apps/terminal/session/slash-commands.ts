import { type MessageItem, withWhole } from "../../../client/transcript/transcript.ts"
import { CONTINUE_TEXT, isCutShort } from "../../../client/transcript/reply-text.ts"
import { lastUndoable } from "../../../client/last-undoable.ts"
import { grantName } from "../../../client/format.ts"
import { Mode } from "../../../core/protocol/schema.ts"
import { columnLines } from "../wrap.ts"
import { isLongMessage, itemLines, userLines } from "../drawing/item-lines.ts"
import { BOLD, DIM, type Line, line, span } from "../line.ts"
import { printable, printableLines } from "../printable.ts"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import { unreferencedFiles } from "./upload-files.ts"
import {
  answerCommand,
  compactCommand,
  conversationsCommand,
  declineCommand,
  summaryCommand,
} from "./conversation-commands.ts"
import { connectCommand, fallbackCommand, modelCommand, reasoningCommand, settingsCommand } from "./model-commands.ts"
import type { TerminalSession } from "./terminal-session.ts"
import { argumentLines } from "../drawing/diff-lines.ts"
import { own } from "../../../core/shared/text/json.ts"
import { formatBytes, storageKinds } from "../../../core/protocol/account/storage.ts"
import { answerHelp, keyHelp, slashHelp, slashText } from "../../strings/slash-commands.ts"

export interface CommandContext {
  readonly session: TerminalSession
  /** Puts a text into the input line, to be edited and sent. */
  write(text: string, files?: readonly MessageFile[]): void
  /** Attaches the image in the clipboard. */
  paste(): Promise<void>
  quit(): void
}

interface SlashCommand {
  readonly takes?: string
  run(context: CommandContext, text: string): Promise<void> | void
}

const AUDITED = 50

export const commands: Readonly<Record<keyof typeof slashHelp, SlashCommand>> = {
  help: { run: ({ session }) => session.print(...helpLines(session.columns)) },
  model: {
    takes: "[NAME]",
    run: ({ session }, text) => modelCommand(session, text),
  },
  connect: {
    takes: "[NAME]",
    run: ({ session }, text) => connectCommand(session, text),
  },
  fallback: {
    takes: "[NAMES]",
    run: fallbackCommand,
  },
  settings: {
    takes: "[NAME=VALUE]",
    run: settingsCommand,
  },
  agent: { takes: "[NAME]", run: chooseAgent },
  mode: { takes: "MODE", run: chooseMode },
  conversations: {
    takes: "[N|WORDS]",
    run: conversationsCommand,
  },
  new: { run: startNew },
  fork: { takes: "[N]", run: fork },
  retry: { run: retry },
  continue: { run: continueReply },
  compact: { run: ({ session }) => compactCommand(session) },
  summary: { run: ({ session }) => summaryCommand(session) },
  undo: { run: undo },
  again: { takes: "[N]", run: again },
  answer: {
    takes: "WORDS",
    run: ({ session }, text) => answerCommand(session, text),
  },
  decline: { run: ({ session }) => declineCommand(session) },
  grants: { takes: "[off]", run: grants },
  storage: { run: showStorage },
  show: { run: showCall },
  reasoning: {
    run: reasoningCommand,
  },
  all: { run: showAll },
  send: { run: sendHeld },
  paste: { run: ({ paste }) => paste() },
  unqueue: { run: unqueue },
  quit: { run: ({ quit }) => quit() },
}

export async function runSlashCommand(text: string, context: CommandContext): Promise<void> {
  const [name = "", ...rest] = text.slice(1).trim().split(/\s+/)
  const command = own(commands, name)
  if (!command) return context.session.print(line(slashText.unknown(printable(name), similarCommand(name))))
  await command.run(context, rest.join(" "))
}

const slashNames = Object.keys(slashHelp) as (keyof typeof slashHelp)[]

/** The command with the longest common prefix, of at least two letters. */
function similarCommand(name: string): string | undefined {
  for (let length = name.length; length >= 2; length--) {
    const found = slashNames.find((each) => each.startsWith(name.slice(0, length)))
    if (found !== undefined) return found
  }
  return undefined
}

function helpLines(width: number): Line[] {
  const known = slashNames.map((name) => [`/${name} ${commands[name].takes ?? ""}`, slashHelp[name]] as const)
  return [
    [],
    line(slashText.keys, BOLD),
    ...columnLines(keyHelp, width),
    line(slashText.commands, BOLD),
    ...columnLines(known, width),
    line(slashText.answers, BOLD),
    ...columnLines(answerHelp, width),
  ]
}

function startNew({ session }: CommandContext): void {
  session.leave()
  session.print(line(slashText.newConversation, DIM))
}

async function chooseAgent({ session }: CommandContext, name: string): Promise<void> {
  const { items } = await session.client.listAgents()
  const found = items.find((agent) => agent.name === name)
  if (!found) {
    const rows = columnLines(
      items.map((agent) => [agent.name, agent.description] as const),
      session.columns,
    )
    const unknown = name === "" ? [] : [line(slashText.unknownAgent(printable(name)))]
    return session.print([], ...unknown, ...rows)
  }
  session.leave({ agent: name })
  session.print(line(slashText.agent(printable(name)), DIM))
}

async function chooseMode({ session }: CommandContext, text: string): Promise<void> {
  const mode = Mode.safeParse(text)
  if (!mode.success) return session.print(line(slashText.badMode(Mode.options.join(", "))))
  await session.setMode(mode.data)
}

async function grants({ session }: CommandContext, text: string): Promise<void> {
  const { conversation } = session
  const params = { id: conversation?.id ?? "" }
  const { items } = conversation ? await session.client.listGrants({ params }) : { items: [] }
  if (items.length === 0) return session.print(line(slashText.noGrants, DIM))
  if (text === "off") {
    await session.client.revokeGrants({ params })
    return session.print(line(slashText.grantsRevoked, DIM))
  }
  const rows = items.map((grant): Line => [
    span(printable(grantName(grant))),
    span(slashText.grantUses(grant.left, grant.uses), DIM),
  ])
  session.print([], ...rows, line(slashText.grantsHint, DIM))
}

async function showStorage({ session }: CommandContext): Promise<void> {
  const { bytes, limitBytes, kinds } = await session.client.readStorage()
  const rows = kinds.map((each) => [storageKinds[each.kind].label, formatBytes(each.bytes)] as const)
  session.print(
    [],
    line(slashText.storage(formatBytes(bytes), formatBytes(limitBytes))),
    ...columnLines(rows, session.columns),
  )
}

async function fork({ session, write }: CommandContext, text: string): Promise<void> {
  const { conversation } = session
  if (!conversation) return session.print(line(slashText.nothingToFork))
  const { items, cursor } = conversation.transcript
  const own = items.flatMap((item) => (item.type === "message" && item.message.role === "user" ? [item.message] : []))
  const message = text === "" ? undefined : nthLast(own, text)
  if (text !== "" && !message) return session.print(line(slashText.forkHow))
  const body = message ? { before: message.id } : { position: Number(cursor.split(".")[0]) }
  const params = { id: conversation.id }
  // The input line gets the whole message.
  const whole = message?.truncated
    ? await session.client.readMessage({ params: { ...params, messageId: message.id } })
    : message
  const { id } = await session.client.forkConversation({ params, body })
  const branch = await session.enter(id)
  if (session.conversation !== branch) return // the person has opened another conversation in the meantime
  session.print(line(slashText.forked, DIM))
  if (whole) write(whole.content, await unreferencedFiles(session.client, whole.content, message?.files ?? []))
}

async function undo({ session }: CommandContext): Promise<void> {
  const { conversation } = session
  const { items } = await session.client.listAudit({ query: { limit: AUDITED } })
  const { entry, warning } = lastUndoable(items, conversation?.id)
  if (warning !== undefined) session.print(line(slashText.warning(printable(warning))))
  if (!entry) return session.print(line(slashText.nothingToUndo))
  await session.client.undoWrite({ params: { id: entry.id } })
}

/** The first answer stays in the transcript. */
async function retry({ session }: CommandContext): Promise<void> {
  const { conversation } = session
  const last = conversation?.transcript.items.findLast(
    (item) => item.type === "message" && item.message.role === "user",
  )
  if (!conversation || last?.type !== "message") return session.print(line(slashText.nothingToRetry))
  if (session.isBusy) return session.print(line(slashText.retryWhileBusy))
  const { message } = last
  const params = { id: conversation.id, messageId: last.key }
  const { content } = message.truncated ? await session.client.readMessage({ params }) : message
  await session.send(content, "queue", { files: message.files ?? [] })
}

/** The cut reply stays in the transcript. */
async function continueReply({ session }: CommandContext): Promise<void> {
  const last = session.conversation?.transcript.items.findLast((item) => item.type === "message")
  if (last?.type !== "message" || !isCutShort(last.message)) return session.print(line(slashText.notCut))
  await session.send(CONTINUE_TEXT, "queue")
}

async function again({ session }: CommandContext, text: string): Promise<void> {
  const items = session.conversation?.transcript.items ?? []
  const expired = items.flatMap((item) =>
    item.type === "proposal" && item.proposal.status === "expired" ? [item.proposal] : [],
  )
  const chosen = nthLast(expired, text === "" ? "1" : text)
  if (!chosen) return session.print(line(slashText.nothingExpired))
  await session.proposeAgain([chosen])
}

/** Undefined if the word is not a number: `at(NaN)` would return the first. */
const nthLast = <Value>(values: readonly Value[], text: string): Value | undefined =>
  /^[1-9]\d*$/.test(text) ? values.at(-Number(text)) : undefined

function showCall({ session }: CommandContext): void {
  const call = session.conversation?.transcript.items.findLast((item) => item.type === "call")
  if (call?.type !== "call") return session.print(line(slashText.noCall))
  const parsed = argumentLines(call.input, 100)
  const result = printableLines(call.text ?? slashText.noResult).map((each) => line(each))
  session.print([], line(printable(call.name), BOLD), ...parsed, line(slashText.result, DIM), ...result)
}

async function showAll({ session }: CommandContext): Promise<void> {
  const { conversation } = session
  const long = conversation?.transcript.items.findLast((item) => item.type === "message" && isShownInPart(item.message))
  if (!conversation || long?.type !== "message") return session.print(line(slashText.nothingLong))
  const message = long.message.truncated
    ? await session.client.readMessage({ params: { id: conversation.id, messageId: long.key } })
    : long.message
  conversation.transcript = withWhole(conversation.transcript, message)
  if (message.role === "user") return session.print(...userLines(message.content, session.columns, true))
  session.print(...itemLines({ ...long, message }, session.columns))
}

const isShownInPart = ({ truncated, role, content }: MessageItem["message"]): boolean =>
  Boolean(truncated) || (role === "user" && isLongMessage(content))

async function unqueue({ session, write }: CommandContext): Promise<void> {
  if (session.queue.length === 0) return session.print(line(slashText.nothingQueued))
  const back = await session.conversation?.withdrawLast()
  if (back === undefined) return session.print(line(slashText.alreadySent))
  write(back.text, back.files)
}

/** Sends the oldest held message; the others follow. */
async function sendHeld({ session }: CommandContext): Promise<void> {
  const { conversation, queue } = session
  const [first] = queue
  if (!conversation || !first) return session.print(line(slashText.nothingQueued))
  await session.client.sendQueued({ params: { id: conversation.id, messageId: first.id } })
  await conversation.refreshQueue()
}
