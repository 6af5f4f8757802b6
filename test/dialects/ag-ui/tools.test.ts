import { beforeAll, describe, expect, test, vi } from "vitest"
import { always } from "../../../core/models/scripted/model.ts"
import { calls, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type AgUiAgent, type AgUiPerson, agUiAs, asks, failureOf, runs, shownOf } from "../ag-ui-client.ts"
import { Stage } from "../stage.ts"

const tools = [{ name: "show_map", description: "Shows a place.", parameters: { type: "object", properties: {} } }]
const MAP = calls("client-show_map", { place: "Oslo" })

describe.each(anyDatabase)("tools of an AG-UI frontend on $name", (database) => {
  let stage: Stage
  let ada: AgUiPerson

  const bring = (agent: AgUiAgent, content: string) => {
    const { toolCalls } = agent.messages.findLast((message) => message.toolCalls)
    agent.addMessage({ id: `result-${content}`, role: "tool", toolCallId: toolCalls.at(-1).id, content })
  }

  beforeAll(async () => {
    vi.spyOn(console, "error").mockImplementation(() => {}) // the client prints what it throws
    stage = await Stage.open(database)
    ada = await agUiAs(stage.face, "ada")
    return () => stage[Symbol.asyncDispose]()
  })

  test("a run ends with the tool call it waits for, and continues with the result, as in our own API", async () => {
    stage.plays(replies(says("Look."), MAP), says("There it is."))
    const agent = ada()
    const first = await asks(agent, "Where is Oslo?", { tools })
    const [call] = agent.messages.at(-1).toolCalls
    expect(call.function).toEqual({ name: "show_map", arguments: '{"place":"Oslo"}' })
    expect(first.last.outcome).toEqual({ type: "success", pendingToolCallIds: [call.id] })
    bring(agent, "shown")
    await runs(agent, { tools })
    expect(shownOf(agent.messages)).toEqual([
      ["user", "Where is Oslo?"],
      ["assistant", "Look."],
      ["tool", "shown"],
      ["assistant", "There it is."],
    ])
    const { messages } = (await stage.native.get(`/api/conversations/${first.events[0].metadata.pawl.conversationId}`))
      .body
    expect(shownOf(messages)).toEqual(shownOf(agent.messages))
    expect(JSON.stringify(stage.received[1]?.history)).toContain("Words from outside")
    // The answer was lost; then a client sends a different result.
    const whole = structuredClone(agent.messages)
    const again = ada(agent.threadId)
    again.setMessages(whole.slice(0, 3))
    await runs(again, { tools })
    expect(shownOf(again.messages)).toEqual(shownOf(agent.messages))
    again.setMessages([...whole.slice(0, 2), { ...whole[2], content: "not shown" }])
    expect((await failureOf(runs(again, { tools }))).message).toContain("call_settled")
    expect(stage.received).toHaveLength(2)
  })

  test("next to a server tool and a pending write, each is settled in its own way", async () => {
    stage.plays(
      calls(["client-show_map", { place: "Oslo" }], ["list_tasks", {}], ["create_task", { title: "Go to Oslo" }]),
      always(says("Done.")),
    )
    const agent = ada(undefined, { agent: "workspace" })
    const first = await asks(agent, "Oslo", { tools })
    expect(first.last.outcome.type).toBe("interrupt")
    const [map] = agent.messages.find((message) => message.toolCalls).toolCalls
    agent.addMessage({ id: "map", role: "tool", toolCallId: map.id, content: "shown" })
    const resume = [{ interruptId: agent.pendingInterrupts[0].id, status: "cancelled" }]
    const { last } = await runs(agent, { tools, resume })
    expect([last.outcome, agent.messages.at(-1).content]).toEqual([{ type: "success" }, "Done."])
    const results = stage.received[1]?.history.findLast(({ role }) => role === "tool")
    expect(JSON.stringify(results)).toMatch(/shown.*No tasks.*rejected/s)
  })

  test("a new message settles pending tool calls, with any result sent until then", async () => {
    stage.plays(MAP, MAP, says("As you like."))
    const agent = ada()
    await asks(agent, "Where is Oslo?", { tools })
    await asks(agent, "Where is Rome?", { tools })
    bring(agent, "shown")
    await asks(agent, "Never mind.")
    const told = JSON.stringify(stage.received[2]?.history)
    expect(told).toMatch(/did not send a result.*shown/s)
    expect(agent.messages.at(-1).content).toBe("As you like.")
  })

  test("a result for another person's tool call changes nothing", async () => {
    stage.plays(MAP, always(says("Hello.")))
    const agent = ada()
    await asks(agent, "Where is Oslo?", { tools })
    const bobs = (await agUiAs(stage.face, "bob"))(agent.threadId)
    bobs.setMessages(agent.messages)
    bring(bobs, "forged")
    await runs(bobs, { tools })
    bring(agent, "shown")
    await runs(agent, { tools })
    expect(JSON.stringify(stage.received.at(-1)?.history)).not.toContain("forged")
  })
})
