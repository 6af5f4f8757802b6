import type { Live } from "../agent/ports.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { Proposed } from "../protocol/proposal.ts"

/** How `pawl exec` shows a run: as text for people, or as JSON lines for programs. */
export interface Printer {
  /** The last whole answer. */
  readonly answer: string
  show(live: Live): void
  /** Says that a change waits for a person: to be agreed to, or, in doubt, to be told what became of it. */
  ask(proposed: Proposed, inDoubt: boolean): void
  fail(error: { readonly code: string; readonly message: string }): void
  end(status: "completed" | "cancelled" | "paused"): void
}

export function textPrinter(): Printer {
  const names = new Map<string, string>()
  let answer = ""
  let midLine = false

  function show(live: Live): void {
    if (live.type === "text_delta") write(live.text)
    if (live.type === "events") for (const event of live.events) showEvent(event)
  }

  function showEvent(event: JournalEvent): void {
    if (event.type === "message" && event.role === "assistant") {
      finishLine()
      answer = textOf(event) || answer
      for (const part of event.parts) {
        if (part.type !== "call") continue
        names.set(part.id, part.name)
        note(`> ${part.name} ${JSON.stringify(part.input)}`)
      }
    }
    if (event.type === "tool_end")
      note(`< ${names.get(event.callId) ?? event.callId}: ${event.status} (${event.ms} ms)`)
    if (event.type === "restarted") note("(the answer broke off; it starts again)")
  }

  function write(text: string): void {
    process.stdout.write(text)
    midLine = !text.endsWith("\n")
  }

  function finishLine(): void {
    if (midLine) write("\n")
  }

  function note(line: string): void {
    finishLine()
    process.stderr.write(`${line}\n`)
  }

  return {
    get answer() {
      return answer
    },
    show,
    ask({ id, tool, summary }, inDoubt) {
      if (inDoubt) {
        note(`${tool} was broken off, and nobody can tell whether it was done: ${summary}`)
        return note(`  (${id}; look at its target, then say on the server what became of it.)`)
      }
      note(`${tool} needs your confirmation: ${summary}`)
      note(`  (${id}; nothing was changed. Decide it on the server, or run this again with --mode auto.)`)
    },
    fail: ({ message }) => note(`pawl: ${message}`),
    end: (status) => (status === "cancelled" ? note("cancelled") : finishLine()),
  }
}

/** Events as the streams of the server name them, one a line; the last line is `done` or `error`. */
export function jsonPrinter(): Printer {
  let answer = ""
  const print = (value: object) => void process.stdout.write(`${JSON.stringify(value)}\n`)
  return {
    get answer() {
      return answer
    },
    show(live) {
      if (live.type === "text_delta") print(live)
      if (live.type !== "events") return
      for (const event of live.events) {
        if (event.type === "message" && event.role === "assistant") answer = textOf(event) || answer
        print(event)
      }
    },
    ask: ({ tool, summary }, inDoubt) =>
      void process.stderr.write(`${tool} ${inDoubt ? "is in doubt" : "needs your confirmation"}: ${summary}\n`),
    fail: ({ code, message }) => print({ type: "error", code, message }),
    end: (status) => print({ type: "done", status }),
  }
}

function textOf({ parts }: Extract<JournalEvent, { type: "message" }>): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}
