import { expect, test } from "vitest"
import type { HistoryMessage, ModelRequest } from "../../../core/engine/model.ts"
import { answer } from "../../../core/engine/definition/tool.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { of, openChecked, repliesOf } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { asksForSummary } from "../summaries.ts"
import { read as reads } from "../../support/loop/tools.ts"
import { sizes } from "../../support/sizes.ts"
import { countWork } from "../../support/worked.ts"

const TURNS = sizes.turns
const WINDOW = 8000
const FACT = "By the way: the code of the harbour gate is 4711."

const sizeOf = (turn: HistoryMessage): number =>
  turn.role === "user" ? turn.text.length : JSON.stringify(turn.role === "tool" ? turn.results : turn.parts).length

/**
 * Calls a tool every fifth time, searches when it is asked about a previous turn, and knows only what is in the
 * request.
 */
function reply(request: ModelRequest) {
  const { history } = request
  if (asksForSummary(request)) return says("They talked of this and that, at length.")
  const last = history.at(-1)
  if (last?.role === "tool") {
    const found = /gate is (\d+)/.exec(last.results[0]?.text ?? "")?.[1]
    return says(found ? `It is ${found}.` : `Seen. ${"Words of an answer. ".repeat(12)}`)
  }
  const asked = last?.role === "user" ? last.text : ""
  if (asked.startsWith("What is the code")) return calls("find_earlier", { words: "code harbour gate" })
  return /^\d*[05] /.test(asked) ? calls("look", { of: asked }) : says("Words of an answer. ".repeat(12))
}

test.each(anyDatabase)(
  `${TURNS} turns on eight thousand tokens: each is answered and costs the same, and a fact from the third is found, on $name`,
  { timeout: 600_000 },
  async ({ create }) => {
    await using database = await create()
    const sent: number[] = []
    const model = scripted(
      always((request) => {
        sent.push(request.history.reduce((sum, turn) => sum + sizeOf(turn), request.system.length))
        return reply(request)
      }),
    )
    model.contextTokens = WINDOW
    const look = reads("look", () => answer("What is to be seen there. ".repeat(60)))
    await using world = await openChecked({ url: database.url, model, tools: [look] })
    const id = await world.begin(`1 ${"x".repeat(120)}`)
    const work: number[] = []
    const read: number[] = []
    for (let turn = 2; turn < TURNS; turn++) {
      const counted = countWork()
      const before = sent.length
      await world.send(id, turn === 3 ? FACT : `${turn} ${"x".repeat(120)}`)
      work.push(counted())
      read.push(sum(sent.slice(before)))
    }
    await world.send(id, "What is the code of the harbour gate?")
    const answers = (await repliesOf(world, id)).filter((words) => words !== "")
    expect(answers).toHaveLength(TURNS)
    expect(answers.at(-1)).toBe("It is 4711.")

    expect(Math.max(...sent)).toBeLessThan(WINDOW * 4)
    const events = await world.events(id)
    const made = of(events, "compaction").map(({ what }) => what)
    expect(new Set(made)).toEqual(new Set(["references", "due", "summary"]))
    expect(of(events, "history_cut")).toEqual([])
    // A summary is one more request, and there is at most one for twenty turns.
    expect(made.filter((what) => what === "summary").length).toBeLessThan(TURNS / 20)
    // Compares processor time and what the model reads in a turn, summaries and calls included: an early quarter with
    // the last.
    const quarter = Math.floor(TURNS / 4)
    for (const [cost, most] of [
      [work, 1.5],
      [read, 1.15],
    ] as const) {
      const [early, late] = [sum(cost.slice(100, 100 + quarter)), sum(cost.slice(-quarter))]
      expect(late / early).toBeLessThan(most)
    }
  },
)

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
