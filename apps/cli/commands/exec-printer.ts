import {
  type Client,
  citationLegend,
  describeLeftOut,
  describeNotice,
  describeWaiting,
  isFrame,
} from "../../../client/index.ts"
import type { UnknownFrame } from "../../../core/protocol/frames.ts"
import { toNotice } from "../../../core/protocol/notices.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { escapeControls, escapeHidden, escapeHiddenJson } from "../../../core/shared/text/hidden-characters.ts"
import { execText } from "../../strings/exec.ts"
import { dataLines } from "../../terminal/drawing/call-lines.ts"
import { lineText } from "../../terminal/line.ts"
import { EXIT, type ExecResult } from "./exec-ending.ts"

/** The fields of a proposal that a printer shows. */
export type PrintedProposal = Pick<Proposal, "id" | "tool" | "summary" | "reason">

/** How `pawl exec` prints a run: as text for people, or as JSON lines for programs. */
export interface Printer {
  /** The last complete answer. */
  readonly answer: string
  begin(conversation: { readonly id: string; readonly [field: string]: unknown }, isNew: boolean): void
  show(frame: UnknownFrame): void
  /** Prints that a change waits for approval, or is in doubt. */
  ask(proposal: PrintedProposal, inDoubt: boolean): void
  fail(error: { readonly code: string; readonly message: string }): void
  /** Prints the end of the run, with a remark if the answer is incomplete. */
  end(status: "completed" | "cancelled" | "paused", ending?: Pick<ExecResult, "remark" | "reason">): void
}

const MAX_UNFINISHED = 32
const MAY_GO_ON = /^(?:\p{Extended_Pictographic}|[\u200D\uFE0F\u{1F3FB}-\u{1F3FF}]|[\uD800-\uDBFF])$/u

/** The end of a text that may combine with the next part into one character, such as half of a surrogate pair. */
function unfinishedEnd(text: string): string {
  const last = Array.from(text.slice(-MAX_UNFINISHED))
  const from = last.findLastIndex((character) => !MAY_GO_ON.test(character)) + 1
  return last.slice(from).join("")
}

const MAX_REASON = 300

/** Why a tool failed, on one line. For a command its exit code and its last line of output. */
function failureOf({
  status,
  text,
  data,
}: {
  readonly status: string
  readonly text: string
  readonly data?: unknown
}): string {
  const { exitCode } = (data ?? {}) as { readonly exitCode?: unknown }
  const lines = text.split("\n").map((each) => each.trim())
  const said = lines.filter((each) => each !== "")
  const isFailedCommand = exitCode !== undefined && exitCode !== 0
  if (status === "ok" && !isFailedCommand) return ""
  // The last line of a command's result describes its sandbox.
  const output = isFailedCommand ? said.slice(1).filter((each) => !each.startsWith("[")) : []
  const why = [said[0], output.at(-1)].filter((each) => each !== undefined).join(" ")
  return why.length > MAX_REASON ? `${why.slice(0, MAX_REASON)}…` : why
}

/** A pipe has no width of its own. */
const PIPE_WIDTH = 200

/** `decideWith`: the command that decides the waiting changes of a conversation. */
export function textPrinter(
  decideWith = (id: string): string => `pawl chat --conversation ${id}`,
  withIds = false,
): Printer {
  let answer = ""
  let conversation = ""
  /** Tables and charts of tools: the answer refers to them and does not repeat them. */
  let results = ""
  let midLine = false
  let unfinished = ""
  /** Whether a part of the streaming reply has been printed. */
  let hasBegun = false

  function show(frame: UnknownFrame): void {
    if (isFrame(frame, "text_delta")) {
      hasBegun = true
      write(frame.data.text)
    }
    if (isFrame(frame, "message") && frame.data.message.role === "assistant") {
      finishLine()
      hasBegun = false
      const { content, toolCalls } = frame.data.message
      answer = content || answer
      const { sources, problems } = citationLegend(frame.data.message.data)
      for (const each of [...sources, ...problems.map((problem) => `! ${problem}`)]) note(each)
      for (const { name, input } of toolCalls ?? []) note(execText.callStarted(name, JSON.stringify(input)))
    }
    if (isFrame(frame, "tool_end")) {
      const { name, status, ms } = frame.data
      const why = failureOf(frame.data)
      note(execText.callEnded(name, status, ms, why))
      showResult(frame.data.data)
    }
    if (isFrame(frame, "step")) {
      const { step, detail } = frame.data
      const explanation = describeWaiting(step, detail) ?? describeLeftOut(step, detail)
      if (explanation) note(`(${explanation})`)
    }
    // A fallback or a reduced context belongs to the answer.
    if (isFrame(frame, "fallback")) printNotice(toNotice("fallback", frame.data))
    if (isFrame(frame, "history_cut")) printNotice(toNotice("history_cut", frame.data))
    if (isFrame(frame, "compaction")) printNotice(toNotice("compaction", frame.data))
    if (isFrame(frame, "restarted")) {
      // Without text, a tool was running.
      note(hasBegun ? execText.replyRestarted : execText.runResumed)
      hasBegun = false
    }
  }

  function printNotice(notice: ReturnType<typeof toNotice>): void {
    const words = notice && describeNotice(notice)
    if (words) note(`(${words})`)
  }

  function showResult(data: unknown): void {
    const { kind } = (data ?? {}) as { readonly kind?: unknown }
    if (kind !== "table" && kind !== "chart") return
    const lines = dataLines(data, process.stdout.isTTY ? process.stdout.columns : PIPE_WIDTH).map(lineText)
    const drawn = `${lines.map((line) => line.trimEnd()).join("\n")}\n\n`
    results += drawn
    write(drawn)
  }

  /** On a terminal, control sequences and hidden characters are escaped. In a pipe only dangerous ones are. */
  function write(text: string): void {
    midLine = !text.endsWith("\n")
    const all = unfinished + text
    const { isTTY } = process.stdout
    // A line end may come in two pieces.
    const startedLineEnd = all.endsWith("\r") ? "\r" : ""
    unfinished = isTTY ? unfinishedEnd(all) : startedLineEnd
    const finished = all.slice(0, all.length - unfinished.length)
    process.stdout.write(isTTY ? escapeHidden(finished) : escapeControls(finished))
  }

  function finishLine(): void {
    if (unfinished !== "") process.stdout.write(escapeHidden(unfinished))
    unfinished = ""
    if (midLine) write("\n")
  }

  function note(line: string): void {
    finishLine()
    process.stderr.write(`${escapeHidden(line)}\n`)
  }

  return {
    get answer() {
      return results + answer
    },
    begin({ id }) {
      conversation = id
      if (withIds) note(execText.conversation(id))
    },
    show,
    ask({ id, tool, summary, reason }, inDoubt) {
      if (inDoubt) {
        note(execText.inDoubt(tool, summary))
        return note(execText.inDoubtAdvice(decideWith(conversation), withIds ? id : undefined))
      }
      note(execText.approvalNeeded(tool, summary))
      if (reason) note(`  ${reason}`)
      note(execText.approvalAdvice(decideWith(conversation), withIds ? id : undefined))
    },
    fail: ({ message }) => note(execText.error(message)),
    end(status, ending) {
      if (status === "cancelled") return note(execText.cancelled)
      if (ending?.remark) return note(execText.ending(ending.remark))
      finishLine()
    },
  }
}

/** `JSON.stringify` does not escape bidirectional, zero-width and C1 control characters. */
const toLine = (value: object): string => escapeHiddenJson(JSON.stringify(value))

/** Prints the events of the run with the names of the stream, one per line. The last line is `done` or `error`. */
export function jsonPrinter(): Printer {
  let answer = ""
  const print = (value: object) => void process.stdout.write(`${toLine(value)}\n`)
  return {
    get answer() {
      return answer
    },
    begin({ id, agent, model, provider, mode }, isNew) {
      const type = isNew ? "conversation_started" : "conversation_continued"
      print({ type, conversationId: id, agent, model, provider, mode })
    },
    show(frame) {
      if (isFrame(frame, "message") && frame.data.message.role === "assistant")
        answer = frame.data.message.content || answer
      // The last frame is printed later, with the complete result.
      if (frame.type !== "done" && frame.type !== "error") print({ type: frame.type, ...(frame.data as object) })
    },
    ask({ tool, summary, reason }, inDoubt) {
      const why = reason && !inDoubt ? ` ${reason}` : ""
      const sentence = inDoubt ? execText.inDoubt(tool, summary) : execText.approvalNeeded(tool, summary)
      process.stderr.write(`${escapeHidden(`${sentence}${why}`)}\n`)
    },
    fail: ({ code, message }) => print({ type: "error", code, message }),
    end(status, { remark, reason } = {}) {
      if (remark) process.stderr.write(`${escapeHidden(execText.ending(remark))}\n`)
      print({ type: "done", status, ...(reason ? { reason } : {}) })
    },
  }
}

type Proposals = Awaited<ReturnType<Client["readConversation"]>>["proposals"]

/** After one of these frames the status of the conversation may have changed. */
const TURNS: ReadonlySet<string> = new Set(["in_doubt", "awaiting_confirmation", "run_ended", "done", "error"])

/**
 * The changes in doubt of a conversation. New messages wait until a person has resolved them, so a caller that waits
 * for the answer would wait forever. An interrupted run is continued first, because it may resolve them.
 */
export async function findInDoubt(client: Client, id: string): Promise<Proposals> {
  for (;;) {
    const { status, proposals, position } = await client.readConversation({ params: { id } })
    const found = proposals.filter((proposal) => proposal.status === "in_doubt")
    if (found.length > 0 || status !== "running") return found
    for await (const { type } of client.events(id, { after: String(position) })) if (TURNS.has(type)) break
  }
}

/** Does not send the request: the person resolves the doubt and sends the request again. */
export function reportDoubt(doubted: Proposals, printer: Printer): number {
  for (const proposal of doubted) printer.ask(proposal, true)
  printer.end("paused")
  process.stderr.write(`${execText.error(execText.requestNotSent)}\n`)
  return EXIT.needsConfirmation
}

/** The changes of a conversation that wait for approval. A new message sets them aside. */
export async function findPending(client: Client, id: string): Promise<Proposals> {
  const { proposals } = await client.readConversation({ params: { id } })
  return proposals.filter((proposal) => proposal.status === "pending")
}

/** Names on stderr the changes that were set aside: a person may have decided others in the meantime. */
export async function reportSetAside(client: Client, waiting: Proposals, verbose: boolean): Promise<void> {
  for (const { id, tool, summary } of waiting) {
    const { status } = await client.readProposal({ params: { id } })
    if (status !== "superseded") continue
    const text = execText.error(execText.setAside(tool, summary, verbose ? id : undefined))
    process.stderr.write(`${escapeHidden(text)}\n`)
  }
}
