import { describe, expect, test } from "vitest"
import { type Baseline, differencesOf, toBaseline, toEnd } from "./compare-lives.ts"
import type { NotedEffect, TranscriptLine } from "./life-files.ts"
import type { Played } from "./play-lives.ts"

type Phases = readonly NotedEffect["phase"][]

const pay = (call: string, afterCrash: string, phases: Phases = ["begun", "done"]): NotedEffect[] =>
  phases.map((phase) => ({ call, tool: "pay", input: '{"cents":5}', effect: "write", afterCrash, phase }))

const SAID: TranscriptLine[] = [
  { who: "user", text: "Pay." },
  { who: "result ok", text: "Paid at noon." },
  { who: "assistant", text: "It is paid." },
]

const played = (more: Partial<Played> & { readonly said?: readonly TranscriptLine[] } = {}): Played => {
  const { said = SAID, ...rest } = more
  const outcome = { transcript: said, status: "completed" }
  return { outcome, effects: pay("one", "in-doubt"), problems: [], writes: [], died: true, failure: undefined, ...rest }
}

const baseline = toBaseline(played(), played()) as Baseline
const told = (life: Played, mayRunAgain: string[] = []) => differencesOf(baseline, life, { mayRunAgain })

test("a whole life that tried nothing of its scenario is no measure for those that are killed", () => {
  const short = played()
  const outcome = { ...short.outcome!, shortfall: "its replies call nope." }
  expect(toBaseline({ ...short, outcome }, { ...short, outcome })).toBe("its replies call nope.")
})

test("a life that went as the whole one has no difference", () => {
  expect(told(played())).toEqual([])
})

describe("a write that ran twice", () => {
  const twice = (afterCrash: string) => played({ effects: [...pay("one", afterCrash), ...pay("one", afterCrash)] })

  test("is named, with what to declare", () => {
    expect(told(twice("run-again"))[0]).toMatch(/^pay ran 2 times instead of once\. .*"ask-target".*or "in-doubt"\.$/)
    expect(told(twice("ask-target"))[0]).toContain("Store the call id together with the effect")
  })

  test("is found also with another call id, and accepted if the scenario allows it", () => {
    expect(told(played({ effects: [...pay("one", "in-doubt"), ...pay("two", "in-doubt")] }))).toHaveLength(1)
    expect(told(twice("run-again"), ["pay"])).toEqual([])
  })

  test("is not reported if it only reads", () => {
    const read = pay("one", "run-again").map((effect) => ({ ...effect, effect: "read" as const }))
    expect(told(played({ effects: [...read, ...read] }))).toEqual([])
  })

  test("is counted by its effects if these are visible: two attempts with one effect are one write", () => {
    const seen = played({ effects: pay("one", "ask-target", ["begun", "touched", "done"]) })
    const compare = (cut: Phases) => {
      const effects = [...pay("one", "ask-target", cut), ...pay("one", "ask-target", ["begun", "touched", "done"])]
      return differencesOf(toBaseline(seen, seen) as Baseline, played({ effects }), { mayRunAgain: [] })
    }
    expect(compare(["begun"])).toEqual([])
    expect(compare(["begun", "touched"])).toHaveLength(1)
  })

  test("is none if the second commit changed nothing, because the call's id was on record", () => {
    const again: Phases = ["begun", "touched", "unchanged", "done"]
    const compare = (second: Phases) => {
      const whole = played({ effects: pay("one", "run-again", ["begun", "touched", "done"]) })
      const effects = [...pay("one", "run-again", ["begun", "touched"]), ...pay("one", "run-again", second)]
      return differencesOf(toBaseline(whole, whole) as Baseline, played({ effects }), { mayRunAgain: [] })
    }
    expect(compare(again)).toEqual([])
    expect(compare(["begun", "touched", "touched", "unchanged", "done"])).toHaveLength(1)
  })

  test("is advised by what it did: outside of applyOnce, or in the store without it", () => {
    const attempt = (...effects: string[]): NotedEffect[] => [
      ...pay("one", "run-again", ["begun"]),
      ...effects.map((what) => ({ ...pay("one", "run-again", ["touched"])[0]!, what })),
      ...pay("one", "run-again", ["done"]),
    ]
    const twice = (...effects: string[]) => {
      const whole = played({ effects: attempt(...effects) })
      const both = played({ effects: [...whole.effects, ...whole.effects] })
      return differencesOf(toBaseline(whole, whole) as Baseline, both, { mayRunAgain: [] })[0]
    }
    expect(twice("pay: applyOnce", "pay: fetch")).toMatch(/ran 2 times .* outside of it each time: pay: fetch\./)
    expect(twice("a tool's own write")).toContain("Write with applyOnce")
    expect(twice("pay: fetch")).toContain("name it in mayRunAgain")
  })
})

test("the end names a tool that asks a person although its call is applied once", () => {
  const end = (afterCrash: string, ...effects: string[]) => {
    const touched = effects.map((what) => ({ ...pay("one", afterCrash, ["touched"])[0]!, what }))
    const whole = played({ effects: [...pay("one", afterCrash, ["begun"]), ...touched] })
    return toEnd(toBaseline(whole, whole) as Baseline, [])
  }
  expect(end("in-doubt", "pay: applyOnce")).toContain("pay writes only with applyOnce.")
  for (const other of [
    end("run-again", "pay: applyOnce"),
    end("in-doubt", "pay: applyOnce", "pay: fetch"),
    end("in-doubt"),
  ])
    expect(other).not.toContain("applyOnce")
})

test("the first line that differs is reported, but not a line that a person decided about", () => {
  const other = (line: TranscriptLine) => played({ said: SAID.with(1, line) })
  expect(told(other({ who: "result error", text: "No." }))).toEqual([
    'The transcript differs at line 2: "result error: No." instead of "result ok: Paid at noon.".',
  ])
  expect(told(other({ who: "result ok", text: "Marked as done.", wasInDoubt: true }))).toEqual([])
  expect(told(played({ said: SAID.slice(0, 2) }))).toHaveLength(1)
})

test("words that vary by themselves do not count, whose they are does", () => {
  const varied = toBaseline(played(), played({ said: SAID.with(1, { who: "result ok", text: "Paid at one." }) }))
  const compare = (line: TranscriptLine) =>
    differencesOf(varied as Baseline, played({ said: SAID.with(1, line) }), { mayRunAgain: [] })
  expect(compare({ who: "result ok", text: "Paid at two." })).toEqual([])
  expect(compare({ who: "result error", text: "Paid at two." })).toHaveLength(1)
})

test("a history that no provider takes, and a process that never came to the end, are differences", () => {
  expect(told(played({ problems: ["Broken request: message 2."] }))[0]).toMatch(/broken history.*message 2/)
  expect(told(played({ outcome: undefined, failure: "it hangs" }))).toEqual([
    "The new process did not reach the end: it hangs.",
  ])
  expect(toBaseline(played({ outcome: undefined, failure: "no such agent" }), played())).toBe("no such agent")
})
