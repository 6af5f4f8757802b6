import { expect, test } from "vitest"
import { proposal, Staged } from "../../core/engine/staged.fixture.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import { scenarioIn } from "./scenario-of-run.ts"
import { shortfallOf } from "./live.ts"

/** A model has said what stands there as an answer. */
const ofModel = ({ events }: Staged): JournalEvent[] =>
  events.map((event) => (event.type === "message" && event.role === "assistant" ? { ...event, model: "m" } : event))

test("a run without a proposal is a scenario too, and may call as often as it did", () => {
  const staged = new Staged()
    .asks("Look.", 15)
    .calls(["look", { at: 1 }])
    .starts(1)
    .result(1)
    .answers("Seen.")
  expect(scenarioIn(ofModel(staged))).toEqual({
    ...{ agent: "test", mode: "confirm", say: ["Look."], decide: ["yes"], mayRunAgain: [], maxIterations: 15 },
    replies: [
      { text: "", calls: [{ name: "look", input: { at: 1 } }] },
      { text: "Seen.", calls: [] },
    ],
  })
})

test("each proposal gets its recorded decision: an edited one that of its result, one without an approval a no", () => {
  const staged = new Staged().asks("Save.").calls("save", "save", "save", "save").proposes(1, 2, 3, 4)
  staged.decides(1, "commit").decides(2, "reject").decides(3, "edit")
  staged.add({ type: "proposal", proposal: staged.proposed(3), replaces: proposal(3) }).decides(5, "commit")
  expect(scenarioIn(ofModel(staged))?.decide).toEqual(["yes", "no", "yes", "no"])
})

test("a journal without a message or without a reply is not a scenario", () => {
  expect(scenarioIn(new Staged().events)).toBeUndefined()
  expect(scenarioIn(new Staged().asks("Hello?").events)).toBeUndefined()
})

test("a life that fails, has replies left, or calls what its agent does not have, tries nothing", () => {
  const scenario = (...names: string[]) => {
    const replies = names.map((name) => ({ text: "", calls: name ? [{ name, input: {} }] : [] }))
    return { mode: "confirm" as const, say: ["Look."], decide: ["yes" as const], mayRunAgain: [], replies }
  }
  const whole = ofModel(new Staged().asks("Look.").calls("look").starts(1).result(1).answers("Seen."))
  const has = (name: string) => name === "look"
  expect(shortfallOf(whole, scenario("look", ""), has)).toBeUndefined()
  expect(shortfallOf(whole, scenario("look", "", ""), has)).toContain("3 replies, but the model is asked for only 2")
  expect(shortfallOf(whole, scenario("look", "pay"), has)).toContain("call pay")
  const failed = new Staged().asks("Look.").ends("failed")
  expect(shortfallOf(failed.events, { ...scenario(), replies: undefined }, has)).toContain("a run fails")
  const ended = { code: "script_ended", message: "It broke." } as const
  const asks = ofModel(new Staged().asks("Look.").calls("look").starts(1).result(1))
  const broken = [...asks, { ...failed.events.at(-1)!, error: ended } as JournalEvent]
  expect(shortfallOf(broken, scenario("look"), has)).toContain("1 reply, but the model is asked for one more")
})
