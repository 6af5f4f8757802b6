import { expect, test } from "vitest"
import { emptyTranscript, type Item, type Transcript } from "../../../client/transcript/transcript.ts"
import { lineText } from "../line.ts"
import { Scrollback } from "./scrollback.ts"

const message = (key: string, content: string, role = "assistant") =>
  ({ type: "message", key, message: { role, content } }) as Item
const call = (key: string, isOver: boolean) =>
  ({
    type: "call",
    key,
    name: "read_file",
    input: { path: "a.txt" },
    state: isOver ? "ok" : "running",
    isOver,
    text: "",
    ms: isOver ? 5 : null,
    late: null,
  }) as unknown as Item
const transcript = (items: readonly Item[], writing: string | null = null): Transcript => ({
  ...emptyTranscript,
  items,
  writing,
})
const printed = ({ entries }: Scrollback) =>
  entries.flatMap(({ lines }) => lines.map(lineText)).filter((line) => line !== "")
const moving = { workingMs: () => 1500, isHidden: () => false }

test("a reply is printed block by block while it streams, and each word once", () => {
  const scrollback = new Scrollback()
  const text = "One.\n\nTwo.\n\nThree."
  for (let end = 1; end <= text.length; end++) scrollback.printFinal(transcript([], text.slice(0, end)), 40)
  expect(printed(scrollback)).toEqual(["One.", "Two."])
  expect(scrollback.live(transcript([], text), 40, moving).map(lineText)).toEqual(["", "Three."])
  scrollback.printFinal(transcript([message("m", text)]), 40)
  expect(printed(scrollback)).toEqual(["One.", "Two.", "Three."])
})

test("a reply that failed keeps what was printed, with a notice below", () => {
  const scrollback = new Scrollback()
  const text = "One.\n\nTwo, th"
  scrollback.printFinal(transcript([], text), 40)
  const broken = { role: "assistant", content: text, finish: "broken", toolCalls: null }
  scrollback.printFinal(transcript([{ type: "message", key: "m", message: broken } as Item]), 40)
  expect(printed(scrollback)).toEqual(["One.", "Two, th", "! The reply was interrupted here."])
})

test("a reply that was interrupted and retried with another text is printed in full", () => {
  const scrollback = new Scrollback()
  scrollback.printFinal(transcript([], "One.\n\nTw"), 60)
  const notice = { type: "notice", key: "n", notice: "restarted", detail: "crash" } as Item
  scrollback.printFinal(transcript([notice], "Other.\n\nE"), 60)
  scrollback.printFinal(transcript([notice, message("m", "Other.\n\nEnd.")]), 60)
  expect(printed(scrollback)).toEqual([
    "One.",
    "! The server restarted here. A reply in progress starts",
    "  over.",
    "Other.",
    "End.",
  ])
})

test("an item that still changes holds back those after it", () => {
  const scrollback = new Scrollback()
  scrollback.printFinal(transcript([call("a", false), call("b", true)]), 40)
  expect(printed(scrollback)).toEqual([])
  expect(scrollback.live(transcript([call("a", false), call("b", true)]), 40, moving).map(lineText)).toEqual([
    "… Read file  a.txt  running · 1.5 s",
    "✓ Read file  a.txt  5 ms",
  ])
  scrollback.printFinal(transcript([call("a", true), call("b", true)]), 40)
  expect(printed(scrollback)).toHaveLength(2)
})

test("a delayed result is printed once", () => {
  const scrollback = new Scrollback()
  const late = { ...call("a", true), delayedResult: { status: "ok", text: "It was there." } } as Item
  for (const item of [call("a", true), late, { ...late }]) scrollback.printFinal(transcript([item]), 60)
  expect(printed(scrollback)).toEqual(["✓ Read file  a.txt  5 ms", "  It completed after all: It was there."])
})

test("the reasoning line is printed once before the reply, and one line moves while the model reasons", () => {
  const scrollback = new Scrollback()
  const thinking = { text: "Plan:\nfirst \u001b[31mlook", ms: 3000 }
  const live = (each: Transcript) => scrollback.live(each, 60, moving).map(lineText)
  expect(live({ ...transcript([]), thinking })).toEqual(["", "· Thinking 3 s: first ⟨U+001B⟩[31mlook"])
  const text = "One.\n\nTwo."
  expect(live({ ...transcript([], "One."), thinking })).toEqual([
    "",
    "· Thought for 3 s · /reasoning shows it",
    "",
    "One.",
  ])
  for (let end = 1; end <= text.length; end++)
    scrollback.printFinal({ ...transcript([], text.slice(0, end)), thinking }, 60)
  expect(printed(scrollback)).toEqual(["· Thought for 3 s · /reasoning shows it", "One."])
  const whole = {
    type: "message",
    key: "m",
    message: { role: "assistant", content: text, reasoning: thinking },
  } as Item
  scrollback.printFinal(transcript([whole]), 60)
  expect(printed(scrollback)).toEqual(["· Thought for 3 s · /reasoning shows it", "One.", "Two."])
  const again = { ...whole, key: "n" } as Item
  scrollback.printFinal(transcript([whole, again]), 60)
  expect(printed(scrollback).slice(3)).toEqual(["· Thought for 3 s · /reasoning shows it", "One.", "Two."])
})
