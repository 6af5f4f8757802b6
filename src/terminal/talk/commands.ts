import { withWhole } from "../../client/transcript/with-whole.ts"
import { GO_ON, isCutShort } from "../../client/transcript/reply-words.ts"
import type { MessageItem } from "../../client/transcript/transcript.ts"
import { humanName } from "../../client/words.ts"
import type { AuditEntry } from "../../protocol/proposals/audit.ts"
import { Mode } from "../../protocol/schema.ts"
import { columnLines } from "../column-lines.ts"
import { isLongOwn, itemLines, userLines } from "../drawing/item-lines.ts"
import { BOLD, DIM, type Line, line, span } from "../line.ts"
import { toShown, toShownLines } from "../shown.ts"
import type { MessageFile } from "../../protocol/conversation/message-file.ts"
import { filesBack } from "./sent-files.ts"
import { answerCommand, declineCommand } from "./question-commands.ts"
import { conversationsCommand } from "./conversations-command.ts"
import { compactCommand, summaryCommand } from "./summary-commands.ts"
import { modelCommand } from "./model-command.ts"
import { reasoningCommand } from "./reasoning-command.ts"
import { settingsCommand } from "./settings-command.ts"
import type { Talk } from "./talk.ts"
import { fallbackCommand } from "./fallback-command.ts"
import { argumentLines } from "../drawing/diff-lines.ts"
import { own } from "../../protocol/own.ts"

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
  readonly says: string
  run(context: CommandContext, word: string): Promise<void> | void
}

const AUDITED = 50

export const commands: Readonly<Record<string, SlashCommand>> = {
  help: { says: "keys and commands", run: ({ talk }) => talk.print(...helpLines(talk.columns)) },
  model: {
    takes: "[NAME]",
    says: "the models, those with these letters, or answer with this one from now on; again asks endpoints anew",
    run: ({ talk }, words) => modelCommand(talk, words),
  },
  fallback: {
    takes: "[NAMES]",
    says: "who answers where the model cannot: names, none or usual",
    run: fallbackCommand,
  },
  settings: {
    takes: "[NAME=VALUE]",
    says: "how the model replies: effort, thinking, temperature …",
    run: settingsCommand,
  },
  agent: { takes: "[NAME]", says: "the agents, or begin a new conversation with this one", run: chooseAgent },
  mode: { takes: "MODE", says: "read-only, confirm or auto (Shift+Tab goes round)", run: chooseMode },
  conversations: {
    takes: "[N|WORDS]",
    says: "your conversations, find some by title, or go to one",
    run: conversationsCommand,
  },
  new: { says: "leave this conversation; your next words begin another", run: startAnew },
  fork: { takes: "[N]", says: "branch off here, or before your Nth last message", run: fork },
  continue: { says: "have the model go on where its limit cut its reply", run: goOn },
  compact: { says: "sum up what was said, so that the model has room again", run: ({ talk }) => compactCommand(talk) },
  summary: { says: "what the last summary says that the model is shown", run: ({ talk }) => summaryCommand(talk) },
  undo: { says: "propose to take the last change of this conversation back", run: undo },
  again: { takes: "[N]", says: "propose once more what expired last, or the Nth last that did", run: again },
  answer: {
    takes: "WORDS",
    says: "answer what the server of a tool asks; several fields as name=value; name=value",
    run: ({ talk }, words) => answerCommand(talk, words),
  },
  decline: { says: "say no to what the server of a tool asks", run: ({ talk }) => declineCommand(talk) },
  grants: { takes: "[off]", says: "what you have agreed to beforehand; off takes it back", run: grants },
  show: { says: "the last call in full: what it was given and what it said", run: showCall },
  reasoning: {
    says: "what the model thought before its last reply, where its provider tells it",
    run: reasoningCommand,
  },
  all: { says: "the last long message whose beginning alone is shown, whole", run: showAll },
  send: { says: "send the message now that was held because its run was stopped or failed", run: sendHeld },
  paste: { says: "send the image in the clipboard along with your next words (Ctrl+V)", run: ({ paste }) => paste() },
  unqueue: { says: "take the newest message that waits back into the editor", run: unqueue },
  quit: { says: "leave; --continue comes back here", run: ({ quit }) => quit() },
}

/** Runs what begins with a slash. */
export async function runSlashCommand(text: string, context: CommandContext): Promise<void> {
  const [name = "", ...words] = text.slice(1).trim().split(/\s+/)
  const command = own(commands, name)
  if (!command) return context.talk.print(line(`! There is no /${toShown(name)}. /help lists what there is.`))
  await command.run(context, words.join(" "))
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send; while it works: steer it"],
  ["Alt+Enter", "send; while it works: wait for its end"],
  ["Ctrl+J, \\ Enter", "new line"],
  ["@path, Tab", "send a file along; Tab completes its name"],
  ["Ctrl+V", "send the image in the clipboard along"],
  ["Shift+Tab", "read-only → confirm → auto"],
  ["Esc", "take back the message that waits; stop what works; leave an edit"],
  ["↑ ↓", "what you wrote before"],
  ["Space, PgUp, PgDn, Home, End", "read a long change"],
  ["Ctrl+C", "stop what works, or take your words away; twice: quit, as Ctrl+D does"],
  ["Ctrl+L, Ctrl+Z", "draw the screen anew; go to the shell (fg comes back)"],
]

const ANSWERS: readonly (readonly [string, string])[] = [
  ["no (or Enter), yes", "to what is shown; no 2, yes 2: to one of several"],
  ["always", "yes, and to the next ones of its tool that change no more"],
  ["edit", "change what it is given, then it is shown again"],
  ["again", "propose once more what has expired"],
  ["none, all", "no or yes, and read-only or auto from now on"],
  ["anything else", "is said to the model, and nothing is done"],
]

function helpLines(width: number): Line[] {
  const known = Object.entries(commands).map(([name, { takes = "", says }]) => [`/${name} ${takes}`, says] as const)
  return [
    [],
    line("Keys", BOLD),
    ...columnLines(KEYS, width),
    line("Commands", BOLD),
    ...columnLines(known, width),
    line("When a change waits", BOLD),
    ...columnLines(ANSWERS, width),
  ]
}

function startAnew({ talk }: CommandContext): void {
  talk.leave()
  talk.print(line("Your next words begin another conversation.", DIM))
}

async function chooseAgent({ talk }: CommandContext, name: string): Promise<void> {
  const { items } = await talk.client.listAgents()
  const found = items.find((agent) => agent.name === name)
  if (!found) {
    const rows = columnLines(
      items.map((agent) => [agent.name, agent.description] as const),
      talk.columns,
    )
    const unknown = name === "" ? [] : [line(`! There is no agent "${toShown(name)}". There are:`)]
    return talk.print([], ...unknown, ...rows)
  }
  talk.leave({ agent: name })
  talk.print(line(`Agent: ${toShown(name)}. Your next words begin a conversation with it.`, DIM))
}

async function chooseMode({ talk }: CommandContext, word: string): Promise<void> {
  const mode = Mode.safeParse(word)
  if (!mode.success) return talk.print(line(`! A mode is one of ${Mode.options.join(", ")}.`))
  await talk.setMode(mode.data)
}

async function grants({ talk }: CommandContext, word: string): Promise<void> {
  const { conversation } = talk
  const params = { id: conversation?.id ?? "" }
  const { items } = conversation ? await talk.client.listGrants({ params }) : { items: [] }
  if (items.length === 0) return talk.print(line("Every change is asked about: nothing is agreed to beforehand.", DIM))
  if (word === "off") {
    await talk.client.revokeGrants({ params })
    return talk.print(line("From now on each change is asked about again.", DIM))
  }
  const rows = items.map(({ tool, left, uses }): Line => [
    span(toShown(humanName(tool))),
    span(` · ${left} of ${uses} left`, DIM),
  ])
  talk.print([], ...rows, line("/grants off takes it back.", DIM))
}

async function fork({ talk, write }: CommandContext, word: string): Promise<void> {
  const { conversation } = talk
  if (!conversation) return talk.print(line("! There is nothing yet to branch off from."))
  const { items, cursor } = conversation.transcript
  const own = items.flatMap((item) => (item.type === "message" && item.message.role === "user" ? [item.message] : []))
  const message = word === "" ? undefined : nthLast(own, word)
  if (word !== "" && !message)
    return talk.print(line("! /fork 1 begins anew before your last message, /fork 2 before the one before."))
  const body = message ? { before: message.id } : { position: Number(cursor.split(".")[0]) }
  const params = { id: conversation.id }
  // What goes back into the editor is all that was said.
  const whole = message?.truncated
    ? await talk.client.readMessage({ params: { ...params, messageId: message.id } })
    : message
  const { id } = await talk.client.forkConversation({ params, body })
  const branch = await talk.enter(id)
  if (talk.conversation !== branch) return // its person has gone on meanwhile
  talk.print(line("This is a branch. The conversation it comes from stays as it is.", DIM))
  if (whole) write(whole.content, await filesBack(talk.client, whole.content, message?.files ?? []))
}

async function undo({ talk }: CommandContext): Promise<void> {
  const { conversation } = talk
  const isOurs = (entry: AuditEntry) =>
    entry.conversationId === conversation?.id && entry.undoable && entry.undoneBy === null && entry.undoes === null
  const { items } = await talk.client.listAudit({ query: { limit: AUDITED } })
  const last = conversation && items.find(isOurs)
  if (!last) return talk.print(line("! There is no change in this conversation that can be taken back."))
  await talk.client.undoWrite({ params: { id: last.id } })
}

/** The half of it stays: what comes is the next reply. */
async function goOn({ talk }: CommandContext): Promise<void> {
  const last = talk.conversation?.transcript.items.findLast((item) => item.type === "message")
  if (last?.type !== "message" || !isCutShort(last.message))
    return talk.print(line("! The last reply was not cut: say what you want to hear."))
  await talk.say(GO_ON, "queue")
}

async function again({ talk }: CommandContext, word: string): Promise<void> {
  const items = talk.conversation?.transcript.items ?? []
  const expired = items.flatMap((item) =>
    item.type === "proposal" && item.proposal.status === "expired" ? [item.proposal] : [],
  )
  const chosen = nthLast(expired, word === "" ? "1" : word)
  if (!chosen) return talk.print(line("! Nothing in this conversation has expired that could be proposed again."))
  await talk.proposeAgain([chosen])
}

/** None for what is no number: `at` would take it for the first of all. */
const nthLast = <Value>(values: readonly Value[], word: string): Value | undefined =>
  /^[1-9]\d*$/.test(word) ? values.at(-Number(word)) : undefined

function showCall({ talk }: CommandContext): void {
  const call = talk.conversation?.transcript.items.findLast((item) => item.type === "call")
  if (call?.type !== "call") return talk.print(line("! Nothing has been called yet."))
  const given = argumentLines(call.input, 100)
  const said = toShownLines(call.text ?? "(it has not answered yet)").map((each) => line(each))
  talk.print([], line(toShown(call.name), BOLD), ...given, line("said", DIM), ...said)
}

async function showAll({ talk }: CommandContext): Promise<void> {
  const { conversation } = talk
  const long = conversation?.transcript.items.findLast((item) => item.type === "message" && isShownInPart(item.message))
  if (!conversation || long?.type !== "message") return talk.print(line("! Every message is shown whole."))
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
  if (talk.queue.length === 0) return talk.print(line("! Nothing waits."))
  const back = await talk.conversation?.takeBack()
  if (back === undefined) return talk.print(line("! It no longer waits: it was taken."))
  write(back.text, back.files)
}

/** What was held has its turn, the oldest first; the others follow it. */
async function sendHeld({ talk }: CommandContext): Promise<void> {
  const { conversation, queue } = talk
  const [first] = queue
  if (!conversation || !first) return talk.print(line("! Nothing waits."))
  await talk.client.sendQueued({ params: { id: conversation.id, messageId: first.id } })
  await conversation.refreshQueue()
}
