import { beforeAll, describe, expect, test, vi } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../../core/engine/definition/tool.ts"
import { always } from "../../../core/models/scripted/model.ts"
import { calls, fails, hangs, replies, says, thinks } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type AgUiPerson, agUiAs, asks, connects, failureOf, HttpAgent, runs, shownOf } from "../ag-ui-client.ts"
import { Fax } from "../fax.ts"
import { Stage } from "../stage.ts"
import { TurnedClock } from "../../support/loop/world.ts"

const counts = defineTool({
  ...{
    name: "count",
    description: "Counts.",
    input: z.object({ by: z.number().default(1) }),
    effect: "read",
    afterCrash: "run-again",
  },
  run: async ({ by }, { state }) => answer("Counted.", { state: { counted: Number(state.counted ?? 0) + by } }),
})

describe.each(anyDatabase)("an AG-UI thread that is reopened, on $name", (database) => {
  const clock = new TurnedClock(Date.now())
  const fax = new Fax()
  let stage: Stage
  let ada: AgUiPerson

  beforeAll(async () => {
    vi.spyOn(console, "error").mockImplementation(() => {}) // the client prints what it throws
    stage = await Stage.open(database, { clock, tools: [fax.tool, counts] })
    ada = await agUiAs(stage.face, "ada")
    return () => stage[Symbol.asyncDispose]()
  })

  const statusOf = async (id: string) => (await stage.native.get(`/api/agent/proposals/${id}`)).body.status
  const approving = (interruptId: string) => [{ interruptId, status: "resolved", payload: { approved: true } }]

  test("shows messages, reasoning and results with the same ids, and continues from there", async () => {
    stage.plays(
      replies(thinks("Let me see."), says("I look."), calls("count")),
      says("One."),
      replies(thinks("Again?"), says("Still one.")),
      says("Now two."),
    )
    const agent = ada("opened")
    await asks(agent, "How many?")
    await asks(agent, "And now?")
    const again = ada("opened")
    const { types, last } = await connects(again)
    expect([types[0], last]).toMatchObject(["RUN_STARTED", { type: "RUN_FINISHED", outcome: { type: "success" } }])
    expect(shownOf(again.messages)).toEqual(shownOf(agent.messages))
    const [said, ...rest] = again.messages.filter(({ role }) => role !== "user")
    const [same, ...others] = agent.messages.filter(({ role }) => role !== "user")
    expect([said, ...rest].map(({ id }) => id)).toEqual([same, ...others].map(({ id }) => id))
    expect(again.state).toEqual({ counted: 1 })
    await asks(again, "And tomorrow?")
    expect(again.messages.at(-1).content).toBe("Now two.")
    expect(stage.received.at(-1)!.history.filter(({ role }) => role === "user")).toHaveLength(3)
    // A client that has everything shows it once.
    await connects(again)
    expect(again.messages.filter(({ role }) => role === "user")).toHaveLength(3)
  })

  test("streams a run that is still at work, and reports a failed one as failed", async () => {
    stage.plays(replies(says("Half "), hangs()), always(fails("quota_spent")))
    const first = asks(ada("working"), "Hello")
    const opened = ada("working")
    const working = async () => (await stage.native.get("/api/conversations")).body.items[0]
    await vi.waitFor(async () => expect((await working()).status).toBe("running"))
    let heard = Promise.withResolvers<void>()
    const connecting = opened.connectAgent({}, { onTextMessageContentEvent: () => heard.resolve() })
    await heard.promise
    await stage.native.post(`/api/conversations/${(await working()).id}/cancel`)
    await Promise.all([first, connecting])
    expect(shownOf(opened.messages)).toEqual([
      ["user", "Hello"],
      ["assistant", "Half "],
    ])
    heard = Promise.withResolvers()
    await asks(opened, "And now?")
    expect((await connects(ada("working"))).last).toMatchObject({ type: "RUN_ERROR", code: "quota_spent" })
  })

  test("has its pending changes again, and can decide them", async () => {
    stage.plays(calls("fax"), always(says("Good.")))
    const agent = ada("waiting")
    await asks(agent, "Send it")
    const again = ada("waiting")
    const { last } = await connects(again)
    expect(last.outcome.type).toBe("interrupt")
    expect(again.pendingInterrupts).toEqual(agent.pendingInterrupts)
    const [{ id }] = again.pendingInterrupts
    await runs(again, { resume: [{ interruptId: id, status: "cancelled" }] })
    expect([await statusOf(id), again.messages.at(-1).content]).toEqual(["rejected", "Good."])
  })

  test("an unknown thread is empty and creates nothing; another person's is not found", async () => {
    const before = (await stage.native.get("/api/conversations?limit=200")).body.items.length
    const none = ada("never heard of")
    none.setMessages([{ id: "w", role: "assistant", content: "Welcome." }])
    expect((await connects(none)).types).toEqual(["RUN_STARTED", "RUN_FINISHED"])
    expect(none.messages).toHaveLength(1)
    expect((await stage.native.get("/api/conversations?limit=200")).body.items).toHaveLength(before)
    const conversation = await stage.native.begin({ agent: "test" })
    const bob = await agUiAs(stage.face, "bob")
    const refused = [await failureOf(connects(bob(conversation))), await failureOf(connects(bob("conv_0")))]
    expect(refused.map(({ status, payload }) => [status, payload])).toEqual([
      ...[1, 2].map(() => [404, refused[1].payload]),
    ])
    // The installed class has no such address: it connects to nothing, without an error.
    const plain = new HttpAgent({ url: "http://localhost/ag-ui/test", headers: {}, fetch: () => Promise.reject() })
    await plain.connectAgent()
    expect(plain.messages).toEqual([])
  })

  test("a decision after the deadline is reported in the stream, and the run continues without it", async () => {
    stage.plays(calls("fax"), always(says("As you like.")))
    const agent = ada()
    await asks(agent, "Send it")
    const [{ id, expiresAt }] = agent.pendingInterrupts
    await clock.advance(Date.parse(expiresAt) - clock.now())
    // The official client does not send a decision it knows to be expired; a client with a wrong clock does.
    vi.useFakeTimers({ now: Date.parse(expiresAt) - 60_000, toFake: ["Date"] })
    const { events, last } = await runs(agent, { resume: approving(id) }).finally(() => vi.useRealTimers())
    const late = events.filter(({ name }) => name === "pawl.late").map(({ value }) => value)
    expect(late).toMatchObject([{ interruptId: id, code: "proposal_expired", status: "expired" }])
    expect([last.outcome.type, await statusOf(id), agent.messages.at(-1).content]).toEqual([
      ...["success", "expired", "As you like."],
    ])
    expect(JSON.stringify(stage.received.at(-1)!.history)).toContain("expired")
  })

  test("a write in doubt is an interrupt of its own kind, until a person resolves it", async () => {
    stage.plays(calls("fax"), always(says("Good.")))
    const agent = ada("in doubt")
    await asks(agent, "Send it")
    const [{ id }] = agent.pendingInterrupts
    const on = await fax.lost(clock, () => runs(agent, { resume: approving(id) }))
    expect(on.last.outcome).toMatchObject({ type: "interrupt", interrupts: [{ id, reason: "pawl:in_doubt" }] })
    const opened = ada("in doubt")
    await connects(opened)
    expect(opened.pendingInterrupts).toMatchObject([{ id, reason: "pawl:in_doubt" }])
    const wrong = await failureOf(runs(opened, { resume: approving(id) }))
    expect([wrong.status, wrong.message]).toEqual([400, expect.stringContaining("send {choice}")])
    const choose = (choice: string) => [{ interruptId: id, status: "resolved", payload: { choice } }]
    const again = await fax.lost(clock, () => runs(opened, { resume: choose("retry") }))
    expect(again.last.outcome.interrupts).toMatchObject([{ id, reason: "pawl:in_doubt" }])
    const { last } = await runs(opened, { resume: choose("done") })
    expect([last.outcome.type, await statusOf(id), opened.messages.at(-1).content]).toEqual([
      ...["success", "applied", "Good."],
    ])
  })

  test("state from tools is merged over the frontend's own, and sent again when it changes", async () => {
    stage.plays(calls("count", { by: 2 }), calls("count", { by: 3 }), says("Two."))
    const agent = ada("state", { initialState: { theme: "dark", counted: "mine" } })
    const { events } = await asks(agent, "Count twice")
    const told = events.filter(({ type }) => type === "STATE_SNAPSHOT").map(({ snapshot }) => snapshot.counted)
    // A later snapshot may replace an earlier one; each shows the state at the time it was sent.
    expect([[2, 5], [5]]).toContainEqual(told)
    expect(agent.state).toEqual({ theme: "dark", counted: 5 })
    // The next run begins with the state, which is ours: the model does not receive it as knowledge of the frontend.
    stage.plays(says("Yes."))
    const next = await asks(agent, "And now?")
    expect(next.types[1]).toBe("STATE_SNAPSHOT")
    expect(JSON.stringify(stage.received[0]!.history)).not.toContain("counted: 5")
  })
})
