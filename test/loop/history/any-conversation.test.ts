import fc from "fast-check"
import { expect, test } from "vitest"
import { replay } from "../../../core/engine/replay/replay.ts"
import { collect } from "../../../core/models/providers/server.fixture.ts"
import { openStore } from "../../../core/store/store.ts"
import { seedOf, sizes } from "../../support/sizes.ts"
import { wireModels, wireProviders } from "../../models/wire/providers.ts"
import { type Act, type Plan, type PlannedReply, Story } from "../../models/wire/story.ts"

const CASES = sizes.conversations

const which = fc.nat(20)
const call = fc.tuple(
  fc.constantFrom(
    ...["look", "look", "look", "fetch", "pay", "pay", "mail", "find_earlier", "read_earlier"],
    ...["files.read", "1st", "", "näme".repeat(30)],
  ),
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .constantFrom(0, 0, 0, 1, 2, 3)
        .map((key) => JSON.stringify({ key, words: "seen", position: key + 4 })),
    },
    { weight: 1, arbitrary: fc.constantFrom('{"key":"x"}', "{oops", "", "[1]", '"text"', "null") },
  ),
)

const reply: fc.Arbitrary<PlannedReply> = fc.record({
  kind: fc.constantFrom(
    ...(["words", "words", "calls", "calls", "calls", "calls", "calls", "empty", "blank"] as const),
    ...(["breaks-off", "overloaded", "refuses", "too-long"] as const),
  ),
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  thinks: fc.boolean(),
  holds: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  finish: fc.constantFrom("stop", "stop", "limit"),
  length: fc.integer({ min: 1, max: 60 }),
})

const one = <Given extends Act>(weight: number, arbitrary: fc.Arbitrary<Given>) => ({ weight, arbitrary })
const of = <Name extends string>(name: Name) => fc.constant(name)

const act: fc.Arbitrary<Act> = fc.oneof(
  one(
    8,
    fc.record({
      do: of("say"),
      when: fc.constantFrom("queue", "steer"),
      length: fc.integer({ min: 0, max: 80 }),
      files: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(fc.nat(6), { maxLength: 3 })),
      maxIterations: fc.constantFrom(1, 2, 10),
      wantsJson: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    }),
  ),
  one(5, fc.record({ do: of("switch"), model: which })),
  one(1, fc.record({ do: of("fallback"), models: fc.array(which, { maxLength: 3 }) })),
  one(
    5,
    fc.record({ do: of("decide"), decision: fc.constantFrom("commit", "commit", "reject", "edit"), which: fc.nat(3) }),
  ),
  one(1, fc.record({ do: of("mode"), mode: fc.constantFrom("confirm", "auto", "auto", "read-only") })),
  one(2, fc.record({ do: of("think"), effort: fc.constantFrom("low", "high", null) })),
  // 1,000 s are longer than a proposal lasts.
  one(1, fc.record({ do: of("wait"), seconds: fc.constantFrom(3, 40, 1000) })),
  one(2, fc.record({ do: of("fork"), at: fc.nat(200) })),
  one(2, fc.record({ do: of("die"), in: fc.integer({ min: 1, max: 6 }), when: fc.constantFrom("before", "after") })),
  one(8, fc.record({ do: fc.constantFrom("let-go", "let-go", "cancel", "cancel", "resume", "compact") })),
)

const plan: fc.Arbitrary<Plan> = fc.record({
  replies: fc.array(reply, { maxLength: 24, size: "max" }),
  acts: fc.array(act, { minLength: 1, maxLength: 20, size: "max" }),
  model: which,
  summaryModel: fc.option(which, { nil: undefined }),
})

test(`in ${CASES} conversations over all formats a strict provider accepts every request`, async () => {
  await using store = await openStore({ url: ":memory:", durability: "normal" })
  const { id: user } = await store.people.ensure("ada", Date.now())
  await loadAdapters()
  const met = new Map<string, number>()
  const meet = (what: string) => met.set(what, (met.get(what) ?? 0) + 1)
  const property = fc.asyncProperty(plan, async (given) => {
    const story = new Story(store.engine, user, given)
    try {
      const conversations = await story.run()
      expect(story.requests.flatMap(({ problem }) => problem ?? [])).toEqual([])
      expect(story.troubles).toEqual([])
      for (const conversation of conversations) {
        const events = await story.events(conversation.id)
        const cold = replay(conversation.id, user, events)
        expect({ ...cold, inbox: 0, arrivals: 0 }).toEqual({ ...conversation, inbox: 0, arrivals: 0 })
        for (const event of events) {
          meet(event.type === "compaction" ? event.what : event.type === "tool_end" ? event.status : event.type)
          if (event.type === "tool_end") expectTold(story, event.callId, event.text)
        }
      }
      for (const { model } of story.requests) meet(model)
    } catch (error) {
      const refused = story.requests.find(({ problem }) => problem)
      const body = refused ? `\nThe first that was refused:\n${JSON.stringify(refused.body).slice(0, 6000)}` : ""
      throw new Error(`${(error as Error).message}\n\nWhat happened:\n${story.lines.join("\n")}${body}`, {
        cause: error,
      })
    }
  })
  await fc.assert(property, { numRuns: CASES, endOnFailure: CASES > 200, seed: seedOf("PAWL_CONVERSATIONS_SEED") })
  // A run in which nothing happened does not pass.
  const wanted = [...wireModels, "references", "summary", "failed", "history_cut", "fallback"]
  wanted.push("awaiting_confirmation", "decision", "ok", "error", "denied", "message", "restarted")
  expect(wanted.filter((what) => !met.has(what)).length).toBeLessThanOrEqual(CASES < 500 ? 4 : 0)
}, 3_600_000)

/** The text that a model got for a call is the recorded result, or a reference to it. */
function expectTold(story: Story, callId: string, recorded: string): void {
  for (const text of story.told.get(callId) ?? [])
    if (!text.includes(recorded) && !/^\[This result, \d+ characters, has given way/.test(text))
      throw new Error(`${callId} is recorded as ${recorded} and was told as ${text}`)
}

/** Loads each adapter once, so that later waits belong to the story only. */
async function loadAdapters(): Promise<void> {
  const said = { number: 1, thinks: false, words: "Hi.", calls: [], finish: "stop" } as const
  const models = wireProviders({ answer: () => ({ type: "says", said, breaksOff: false }), asked() {} })
  for (const name of wireModels) await collect(await models.get(name, "" as never))
}
