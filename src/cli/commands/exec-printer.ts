import { citationLegend, isFrame, leftOutWords, noticeWords, waitingWords } from "../../client/index.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import { toNotice } from "../../protocol/notices.ts"
import { escapeHidden, escapeHiddenJson } from "../../protocol/text/hidden-characters.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { ExecResult } from "./exec-ending.ts"
import { dataLines } from "../../terminal/drawing/call-lines.ts"
import { lineText } from "../../terminal/line.ts"

/** What has to be known of a proposal to ask about it. */
export type AskedProposal = Pick<Proposal, "id" | "tool" | "summary">

/** How `pawl exec` shows a run: as text for people, or as JSON lines for programs. */
export interface Printer {
  /** The last whole answer. */
  readonly answer: string
  begin(conversation: { readonly id: string; readonly [field: string]: unknown }, isNew: boolean): void
  show(frame: UnknownFrame): void
  /** Says that a change waits for a person: to be agreed to, or, in doubt, to be told what became of it. */
  ask(proposal: AskedProposal, inDoubt: boolean): void
  fail(error: { readonly code: string; readonly message: string }): void
  /** The last word: how it went, and what is to be said of an answer that is not what it seems. */
  end(status: "completed" | "cancelled" | "paused", ending?: Pick<ExecResult, "says" | "reason">): void
}

const MAX_UNFINISHED = 32
const MAY_GO_ON = /^(?:\p{Extended_Pictographic}|[\u200D\uFE0F\u{1F3FB}-\u{1F3FF}]|[\uD800-\uDBFF])$/u

/** The end of a text that may be one character with what comes next: a family of people, a half of a pair. */
function unfinishedEnd(text: string): string {
  const last = Array.from(text.slice(-MAX_UNFINISHED))
  const from = last.findLastIndex((character) => !MAY_GO_ON.test(character)) + 1
  return last.slice(from).join("")
}

/** A pipe is as wide as need be. */
const PIPE_WIDTH = 200

/** `decideAt`: where what waits is decided, as the end of a sentence. */
export function textPrinter(decideAt = "on the server"): Printer {
  let answer = ""
  /** Tables and charts that tools have brought: the answer speaks of them and does not repeat them. */
  let results = ""
  let midLine = false
  let unfinished = ""
  /** Something of the reply that is being written was shown. */
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
      for (const { name, input } of toolCalls ?? []) note(`> ${name} ${JSON.stringify(input)}`)
    }
    if (isFrame(frame, "tool_end")) {
      note(`< ${frame.data.name}: ${frame.data.status} (${frame.data.ms} ms)`)
      showResult(frame.data.data)
    }
    if (isFrame(frame, "step")) {
      const { step, detail } = frame.data
      const told = waitingWords(step, detail) ?? leftOutWords(step, detail)
      if (told) note(`(${told})`)
    }
    // That somebody else answered, or was shown less, belongs to the answer.
    if (isFrame(frame, "fallback")) tell(toNotice("fallback", frame.data))
    if (isFrame(frame, "history_cut")) tell(toNotice("history_cut", frame.data))
    if (isFrame(frame, "compaction")) tell(toNotice("compaction", frame.data))
    if (isFrame(frame, "restarted")) {
      // Without a word of it, it was a tool that was at work.
      note(hasBegun ? "(the answer broke off; it starts again)" : "(it was interrupted, and has gone on)")
      hasBegun = false
    }
  }

  function tell(notice: ReturnType<typeof toNotice>): void {
    const words = notice && noticeWords(notice)
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

  /** A file or a model must not steer the terminal, nor say what nobody sees; what goes into a pipe is left as it is. */
  function write(text: string): void {
    midLine = !text.endsWith("\n")
    if (!process.stdout.isTTY) return void process.stdout.write(text)
    const all = unfinished + text
    unfinished = unfinishedEnd(all)
    process.stdout.write(escapeHidden(all.slice(0, all.length - unfinished.length)))
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
    begin() {},
    show,
    ask({ id, tool, summary }, inDoubt) {
      if (inDoubt) {
        note(`${tool} was broken off, and nobody can tell whether it was done: ${summary}`)
        return note(`  (${id}; look at its target, then say what became of it ${decideAt}.)`)
      }
      note(`${tool} needs your confirmation: ${summary}`)
      note(`  (${id}; nothing was changed. Decide it ${decideAt}.)`)
    },
    fail: ({ message }) => note(`pawl: ${message}`),
    end(status, ending) {
      if (status === "cancelled") return note("cancelled")
      if (ending?.says) return note(`pawl: ${ending.says}.`)
      finishLine()
    },
  }
}

/** JSON leaves what hides itself, and the second row of control characters, as they are. */
const toLine = (value: object): string => escapeHiddenJson(JSON.stringify(value))

/** Events as the streams of the server name them, one a line; the last line is `done` or `error`. */
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
      // The two that end it are told when all is known.
      if (frame.type !== "done" && frame.type !== "error") print({ type: frame.type, ...(frame.data as object) })
    },
    ask({ id, tool, summary }, inDoubt) {
      process.stderr.write(
        escapeHidden(`${tool} ${inDoubt ? "is in doubt" : "needs your confirmation"}: ${summary} (${id})`) + "\n",
      )
    },
    fail: ({ code, message }) => print({ type: "error", code, message }),
    end(status, { says, reason } = {}) {
      if (says) process.stderr.write(`pawl: ${escapeHidden(says)}.\n`)
      print({ type: "done", status, ...(reason ? { reason } : {}) })
    },
  }
}
