import { expect, test } from "vitest"
import { type CallItem, emptyTranscript, type ProposalItem } from "../../../client/transcript/transcript.ts"
import { callLines } from "./call-lines.ts"
import { programLines } from "./waiting-lines.ts"
import { lineText } from "../line.ts"

const call = (more: Partial<CallItem>) =>
  ({ type: "call", key: "c", name: "run_command", input: { command: "npm test" }, state: "ok", ...more }) as CallItem

const decided = {
  type: "proposal",
  proposal: {
    tool: "run_command",
    summary: `Run, at most 30 s, in a sandbox that is described at length: ${"npm test ".repeat(20)}`,
    arguments: { command: "npm test" },
    status: "applied",
    diff: null,
  },
  decidedBy: "ada",
} as unknown as ProposalItem

test("a command is drawn as one line and the end of its output", () => {
  const text = ["Exit code 0.", ...Array.from({ length: 40 }, (_, index) => `line ${index}\x1b[2J`)].join("\n")
  const lines = callLines(call({ text, ms: 1200, data: { exitCode: 0, how: "ended" } }), 60, { proposal: decided })
  const shown = lines.map(lineText)
  expect(shown[0]).toBe("✓ Run command  npm test · done · 1.2 s")
  expect(shown[1]).toBe("  … 30 lines before; /show shows them")
  expect(shown.at(-1)).toBe("  line 39⟨U+001B⟩[2J")
  expect(shown).toHaveLength(13)
})

test("a change that the person decided is one line; one that was applied without asking is shown", () => {
  const diff = { before: { path: "a.txt", text: "one\n" }, after: { path: "a.txt", text: "two\nthree\n" } }
  const shown = (decidedBy: string) => {
    const proposal = { tool: "edit_file", summary: "Edit a.txt", arguments: {}, status: "applied", diff }
    const item = { type: "proposal", proposal, decidedBy, reason: null } as unknown as ProposalItem
    return callLines(call({ name: "edit_file", text: "Done.", ms: 1200 }), 60, { proposal: item }).map(lineText)
  }
  expect(shown("ada")).toEqual(["✓ Edit a.txt · +2 −1 · done · 1.2 s"])
  expect(shown("policy").slice(1)).toEqual(["  @@ line 1", "  -one", "  +two", "  +three"])
})

test("a call that waits for a program names it, its tool, the deadline and what Esc does", () => {
  const waits = call({
    name: "client-weather",
    state: "handed_over",
    isOver: false,
    waitsUntil: "2026-01-01T00:15:00Z",
  })
  const transcript = { ...emptyTranscript, status: "awaiting_confirmation", items: [waits] } as const
  const shown = programLines(transcript, 0, 60).map(lineText).join(" ")
  expect(shown).toMatch(/^… Waiting until \d\d:\d\d for the program that provides weather\. .* Esc stops\.$/)
  expect(programLines({ ...transcript, status: "running" }, 0, 60)).toEqual([])
})

test("a successful result is left to the reply, a failure shows its first lines", () => {
  const read = { name: "read_file", input: { path: "a.txt" }, text: "one\ntwo\nthree\nfour\nfive" }
  expect(callLines(call(read), 60).map(lineText)).toEqual(["✓ Read file  a.txt"])
  expect(callLines(call({ ...read, state: "error" }), 60).map(lineText)).toEqual([
    "✗ Read file  a.txt  failed",
    "  one",
    "  two",
    "  three",
    "… 2 more lines",
  ])
})

test("a table with a shape worth seeing also gets a chart, any other does not", () => {
  const months = ["2025-01", "2025-02", "2025-03"].map((month, at) => [month, at * 10])
  const data = { kind: "table", columns: ["month", "revenue"], rows: months, rowCount: 3 }
  const shown = (more: object) =>
    callLines(call({ data: { ...data, ...more } }), 60)
      .map(lineText)
      .join("\n")
  expect(shown({})).toMatch(/month\s+revenue[\s\S]*[⠁-⣿]/)
  expect(shown({}).split("2025-02")).toHaveLength(2)
  expect(shown({ rowCount: 4 })).not.toMatch(/[⠁-⣿]/)
  expect(
    shown({
      columns: ["id", "name"],
      rows: [
        [1, "a"],
        [2, "b"],
      ],
      rowCount: 2,
    }),
  ).not.toMatch(/[⠁-⣿█]/)
})

test("files in a result are named, and the progress of a call does not push out its name", () => {
  const files = [{ id: "file_1", name: "a\u202e.png", type: "image/png", size: 12 }]
  const drawn = callLines(call({ ms: 10, text: "Here.", data: { kind: "files", files } }), 80).map(lineText)
  expect(drawn).toEqual(["✓ Run command  npm test  10 ms", "  a⟨U+202E⟩.png (image/png, 12 bytes)"])
  const [line] = callLines(call({ state: "running", progress: `Reading\x1b[2J ${"x".repeat(100)}` }), 70).map(lineText)
  expect(line).toMatch(/^… Run command {2}npm test {2}running · Reading⟨U\+001B⟩\[2J x+…$/)
})
