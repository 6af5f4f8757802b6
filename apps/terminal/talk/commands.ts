import { type MessageItem, withWhole } from "../../../client/transcript/transcript.ts"
import { CONTINUE_TEXT, isCutShort } from "../../../client/transcript/reply-words.ts"
import { lastUndoable } from "../../../client/last-undoable.ts"
import { grantName } from "../../../client/words.ts"
import { Mode } from "../../../core/protocol/schema.ts"
import { columnLines } from "../wrap.ts"
import { isLongOwn, itemLines, userLines } from "../drawing/item-lines.ts"
import { BOLD, DIM, type Line, line, span } from "../line.ts"
import { toShown, toShownLines } from "../shown.ts"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import { filesBack } from "./sent-files.ts"
import {
  answerCommand,
  compactCommand,
  conversationsCommand,
  declineCommand,
  summaryCommand,
} from "./conversation-commands.ts"
import { connectCommand, fallbackCommand, modelCommand, reasoningCommand, settingsCommand } from "./model-commands.ts"
import type { Talk } from "./talk.ts"
import { argumentLines } from "../drawing/diff-lines.ts"
import { own } from "../../../core/shared/text/json.ts"
import { formatBytes, storageKinds } from "../../../core/protocol/account/storage.ts"
import { answerHelp, keyHelp, slashHelp, slashText } from "../../strings/slash-commands.ts"

export interface CommandContext {
  readonly talk: Talk
  /** Puts words into the editor, to be changed and sent. */
  write(text: string, files?: readonly MessageFile[]): void
  /** Has the image in the clipboard go along with what is written next. */
  paste(): Promise<void>
  quit(): void
}

interface SlashCommand {
  readonly takes?: string
  run(context: CommandContext, word: string): Promise<void> | void
}

const AUDITED = 50

export const commands: Readonly<Record<keyof typeof slashHelp, SlashCommand>> = {
  help: { run: ({ talk }) => talk.print(...helpLines(talk.columns)) },
  model: {
    takes: "[NAME]",
    run: ({ talk }, words) => modelCommand(talk, words),
  },
  connect: {
    takes: "[NAME]",
    run: ({ talk }, word) => connectCommand(talk, word),
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
  new: { run: startAnew },
  fork: { takes: "[N]", run: fork },
  retry: { run: retry },
  continue: { run: goOn },
  compact: { run: ({ talk }) => compactCommand(talk) },
  summary: { run: ({ talk }) => summaryCommand(talk) },
  undo: { run: undo },
  again: { takes: "[N]", run: again },
  answer: {
    takes: "WORDS",
    run: ({ talk }, words) => answerCommand(talk, words),
  },
  decline: { run: ({ talk }) => declineCommand(talk) },
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

/** Runs what begins with a slash. */
export async function runSlashCommand(text: string, context: CommandContext): Promise<void> {
  const [name = "", ...words] = text.slice(1).trim().split(/\s+/)
  const command = own(commands, name)
  if (!command) return context.talk.print(line(slashText.unknown(toShown(name), nearestTo(name))))
  await command.run(context, words.join(" "))
}

const slashNames = Object.keys(slashHelp) as (keyof typeof slashHelp)[]

/** The command that starts most like a name, with at least two letters in common. */
function nearestTo(name: string): string | undefined {
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

function startAnew({ talk }: CommandContext): void {
  talk.leave()
  talk.print(line(slashText.newConversation, DIM))
}

async function chooseAgent({ talk }: CommandContext, name: string): Promise<void> {
  const { items } = await talk.client.listAgents()
  const found = items.find((agent) => agent.name === name)
  if (!found) {
    const rows = columnLines(
      items.map((agent) => [agent.name, agent.description] as const),
      talk.columns,
    )
    const unknown = name === "" ? [] : [line(slashText.unknownAgent(toShown(name)))]
    return talk.print([], ...unknown, ...rows)
  }
  talk.leave({ agent: name })
  talk.print(line(slashText.agent(toShown(name)), DIM))
}

async function chooseMode({ talk }: CommandContext, word: string): Promise<void> {
  const mode = Mode.safeParse(word)
  if (!mode.success) return talk.print(line(slashText.badMode(Mode.options.join(", "))))
  await talk.setMode(mode.data)
}

async function grants({ talk }: CommandContext, word: string): Promise<void> {
  const { conversation } = talk
  const params = { id: conversation?.id ?? "" }
  const { items } = conversation ? await talk.client.listGrants({ params }) : { items: [] }
  if (items.length === 0) return talk.print(line(slashText.noGrants, DIM))
  if (word === "off") {
    await talk.client.revokeGrants({ params })
    return talk.print(line(slashText.grantsRevoked, DIM))
  }
  const rows = items.map((grant): Line => [
    span(toShown(grantName(grant))),
    span(slashText.grantUses(grant.left, grant.uses), DIM),
  ])
  talk.print([], ...rows, line(slashText.grantsHint, DIM))
}

async function showStorage({ talk }: CommandContext): Promise<void> {
  const { bytes, limitBytes, kinds } = await talk.client.readStorage()
  const rows = kinds.map((each) => [storageKinds[each.kind].label, formatBytes(each.bytes)] as const)
  talk.print(
    [],
    line(slashText.storage(formatBytes(bytes), formatBytes(limitBytes))),
    ...columnLines(rows, talk.columns),
  )
}

async function fork({ talk, write }: CommandContext, word: string): Promise<void> {
  const { conversation } = talk
  if (!conversation) return talk.print(line(slashText.nothingToFork))
  const { items, cursor } = conversation.transcript
  const own = items.flatMap((item) => (item.type === "message" && item.message.role === "user" ? [item.message] : []))
  const message = word === "" ? undefined : nthLast(own, word)
  if (word !== "" && !message) return talk.print(line(slashText.forkHow))
  const body = message ? { before: message.id } : { position: Number(cursor.split(".")[0]) }
  const params = { id: conversation.id }
  // What goes back into the editor is all that was said.
  const whole = message?.truncated
    ? await talk.client.readMessage({ params: { ...params, messageId: message.id } })
    : message
  const { id } = await talk.client.forkConversation({ params, body })
  const branch = await talk.enter(id)
  if (talk.conversation !== branch) return // its person has gone on meanwhile
  talk.print(line(slashText.forked, DIM))
  if (whole) write(whole.content, await filesBack(talk.client, whole.content, message?.files ?? []))
}

async function undo({ talk }: CommandContext): Promise<void> {
  const { conversation } = talk
  const { items } = await talk.client.listAudit({ query: { limit: AUDITED } })
  const { entry, warning } = lastUndoable(items, conversation?.id)
  if (warning !== undefined) talk.print(line(slashText.warning(toShown(warning))))
  if (!entry) return talk.print(line(slashText.nothingToUndo))
  await talk.client.undoWrite({ params: { id: entry.id } })
}

/** The first answer stays: what comes is another one. */
async function retry({ talk }: CommandContext): Promise<void> {
  const { conversation } = talk
  const last = conversation?.transcript.items.findLast(
    (item) => item.type === "message" && item.message.role === "user",
  )
  if (!conversation || last?.type !== "message") return talk.print(line(slashText.nothingToRetry))
  if (talk.isBusy) return talk.print(line(slashText.retryWhileBusy))
  const { message } = last
  const params = { id: conversation.id, messageId: last.key }
  const { content } = message.truncated ? await talk.client.readMessage({ params }) : message
  await talk.say(content, "queue", { files: message.files ?? [] })
}

/** The half of it stays: what comes is the next reply. */
async function goOn({ talk }: CommandContext): Promise<void> {
  const last = talk.conversation?.transcript.items.findLast((item) => item.type === "message")
  if (last?.type !== "message" || !isCutShort(last.message)) return talk.print(line(slashText.notCut))
  await talk.say(CONTINUE_TEXT, "queue")
}

async function again({ talk }: CommandContext, word: string): Promise<void> {
  const items = talk.conversation?.transcript.items ?? []
  const expired = items.flatMap((item) =>
    item.type === "proposal" && item.proposal.status === "expired" ? [item.proposal] : [],
  )
  const chosen = nthLast(expired, word === "" ? "1" : word)
  if (!chosen) return talk.print(line(slashText.nothingExpired))
  await talk.proposeAgain([chosen])
}

/** None for what is no number: `at` would take it for the first of all. */
const nthLast = <Value>(values: readonly Value[], word: string): Value | undefined =>
  /^[1-9]\d*$/.test(word) ? values.at(-Number(word)) : undefined

function showCall({ talk }: CommandContext): void {
  const call = talk.conversation?.transcript.items.findLast((item) => item.type === "call")
  if (call?.type !== "call") return talk.print(line(slashText.noCall))
  const given = argumentLines(call.input, 100)
  const said = toShownLines(call.text ?? slashText.noResult).map((each) => line(each))
  talk.print([], line(toShown(call.name), BOLD), ...given, line(slashText.result, DIM), ...said)
}

async function showAll({ talk }: CommandContext): Promise<void> {
  const { conversation } = talk
  const long = conversation?.transcript.items.findLast((item) => item.type === "message" && isShownInPart(item.message))
  if (!conversation || long?.type !== "message") return talk.print(line(slashText.nothingLong))
  const message = long.message.truncated
    ? await talk.client.readMessage({ params: { id: conversation.id, messageId: long.key } })
    : long.message
  conversation.transcript = withWhole(conversation.transcript, message)
  if (message.role === "user") return talk.print(...userLines(message.content, talk.columns, true))
  talk.print(...itemLines({ ...long, message }, talk.columns))
}

const isShownInPart = ({ truncated, role, content }: MessageItem["message"]): boolean =>
  Boolean(truncated) || (role === "user" && isLongOwn(content))

async function unqueue({ talk, write }: CommandContext): Promise<void> {
  if (talk.queue.length === 0) return talk.print(line(slashText.nothingQueued))
  const back = await talk.conversation?.takeBack()
  if (back === undefined) return talk.print(line(slashText.alreadySent))
  write(back.text, back.files)
}

/** What was held has its turn, the oldest first; the others follow it. */
async function sendHeld({ talk }: CommandContext): Promise<void> {
  const { conversation, queue } = talk
  const [first] = queue
  if (!conversation || !first) return talk.print(line(slashText.nothingQueued))
  await talk.client.sendQueued({ params: { id: conversation.id, messageId: first.id } })
  await conversation.refreshQueue()
}
