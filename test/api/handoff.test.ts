import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type Agent, agentTool, defineTool, handoff, openPawl } from "../../core/index.ts"
import { byAgent, calls, hangs, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"

const paying = () => {
  const balance = new Map<string, number>()
  const set = defineTool({
    ...{ name: "set_price", description: "Sets a price.", effect: "write" as const },
    input: z.object({ part: z.string(), cents: z.number() }),
    inverse: ({ part }) => ({ tool: "set_price", input: { part, cents: 0 } }),
    run({ part, cents }) {
      balance.set(part, cents)
      return "Set."
    },
  })
  return { balance, set }
}
const billing = (tools: Agent["tools"] = []): Agent => ({
  ...{ name: "billing", description: "Knows prices.", instructions: "You are billing.", tools },
})
const triage = (...tools: NonNullable<Agent["tools"]>): Agent => ({
  ...{ name: "triage", instructions: "You are triage.", tools },
})
const toolsOf = (model: ReturnType<typeof scripted>) =>
  model.received.map(({ request: { system, tools } }) => [
    /You are (\w+)/.exec(system)?.[1],
    ...tools.map(({ name }) => name),
  ])

describe.each(anyDatabase)("a handoff on $name", ({ create }) => {
  test("continues the conversation with the other agent, also for the next messages and after a restart", async () => {
    await using database = await create()
    const { balance, set } = paying()
    const model = scripted(
      ...[calls("hand_off_to_billing", {}), calls("set_price", { part: "bolt", cents: 5 }), says("Done.")],
      says("You are welcome."),
    )
    const open = () => openPawl({ store: database.url, models: model, agents: [triage(handoff(billing([set])))] })
    await using first = await open()
    const asked = await first.ask("A bolt costs 5 cents.")
    if (asked.status !== "waiting") throw new Error(asked.status)
    await first.close()
    await using pawl = await open()
    await pawl.proposals.approve(asked.proposals[0]?.id ?? "")
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ text: "Done." })
    expect(balance.get("bolt")).toBe(5)
    expect((await pawl.ask("Thanks.", { conversation: asked.conversationId })).text).toBe("You are welcome.")
    expect(toolsOf(model)).toEqual([
      ["triage", "hand_off_to_billing"],
      ["billing", "set_price"],
      ["billing", "set_price"],
      ["billing", "set_price"],
    ])
    const { items } = await pawl.conversations.messages(asked.conversationId)
    const shown = items.filter(({ role }) => role === "tool").map(({ content }) => content)
    expect(shown).toEqual([expect.stringMatching(/^Handed off from triage to billing\./), "Set."])
  })

  test("interrupted by a restart is continued by the other agent", async () => {
    await using database = await create()
    const model = scripted(calls("hand_off_to_billing", {}), hangs(), says("5 cents."))
    const open = () => openPawl({ store: database.url, models: model, agents: [triage(handoff(billing()))] })
    const first = await open()
    const asking = first.ask("What does a bolt cost?", { key: "bolt" }).catch(() => {})
    await model.requests(2)
    await first.close()
    await asking
    await using pawl = await open()
    expect(await pawl.ask("What does a bolt cost?", { key: "bolt" })).toMatchObject({ text: "5 cents." })
    expect(toolsOf(model).map(([agent]) => agent)).toEqual(["triage", "billing", "billing"])
  })
})

test("the other calls of a reply are executed with the tools of the agent that called them", async () => {
  const { balance, set } = paying()
  const model = scripted(
    calls(["hand_off_to_billing", {}], ["set_price", { part: "bolt", cents: 7 }]),
    says("It costs 7 cents."),
  )
  const agents = [triage(handoff(billing()), set)]
  await using pawl = await openPawl({ store: ":memory:", models: model, agents })
  const asked = await pawl.ask("A bolt costs 7 cents.")
  if (asked.status !== "waiting") throw new Error(asked.status)
  await pawl.proposals.approve(asked.proposals[0]?.id ?? "")
  expect(await pawl.answer(asked.conversationId)).toMatchObject({ text: "It costs 7 cents." })
  expect(balance.get("bolt")).toBe(7)
  expect(toolsOf(model)).toEqual([
    ["triage", "hand_off_to_billing", "set_price"],
    ["billing", "no_tools"],
  ])
})

test("agents hand off to each other, and neither can call the other's tools", async () => {
  const { balance, set } = paying()
  const model = scripted(
    ...[calls("hand_off_to_billing", {}), calls("set_price", { part: "bolt", cents: 9 })],
    ...[calls("hand_off_to_triage", {}), says("No.")],
  )
  const back = handoff("triage", { description: "Everything else." })
  const agents = [triage(set, handoff("billing", { description: "Prices." })), billing([back])]
  await using pawl = await openPawl({ store: ":memory:", models: model, agents })
  const answer = await pawl.ask("Set it.")
  expect(answer).toMatchObject({ status: "answered", text: "No." })
  expect(balance.size).toBe(0)
  const { items } = await pawl.conversations.messages(answer.conversationId)
  expect(items.find(({ content }) => content.includes("set_price"))?.content).toMatch(/^There is no tool "set_price"/)
  expect(toolsOf(model).map(([agent]) => agent)).toEqual(["triage", "billing", "billing", "triage"])
})

test("a write of the first agent can be undone after the handoff", async () => {
  const { balance, set } = paying()
  const model = scripted(
    ...[calls("set_price", { part: "bolt", cents: 9 }), calls("hand_off_to_billing", {}), says("Set.")],
  )
  const agents = [triage(set, handoff(billing()))]
  await using pawl = await openPawl({ store: ":memory:", models: model, agents })
  const asked = await pawl.ask("Set it.", { mode: "auto" })
  expect(asked).toMatchObject({ status: "answered", text: "Set." })
  const [entry] = (await pawl.audit.list()).items
  await pawl.audit.undo(entry?.id ?? "")
  const [proposal] = (await pawl.proposals.list({ status: "pending" })).items
  if (proposal) await pawl.proposals.approve(proposal.id)
  await pawl.answer(asked.conversationId)
  expect(balance.get("bolt")).toBe(0)
})

test("an unknown agent and a missing description are refused", async () => {
  expect(() => handoff({ name: "billing" })).toThrow('handoff: say when to hand off to "billing"')
  const agents = [triage(handoff("bill", { description: "Prices." }), agentTool(billing()))]
  await expect(openPawl({ store: ":memory:", models: scripted(), agents })).rejects.toThrow(
    'Agent "triage": it hands off to "bill", which is not an agent.',
  )
})

test("a script by agent counts the replies of each agent, also after handoffs in both directions", async () => {
  const model = scripted(
    byAgent({
      triage: [calls("hand_off_to_billing", {}), says("Back at triage.")],
      billing: [says("One."), calls("hand_off_to_triage", {}), says("Three.")],
    }),
  )
  const back = handoff("triage", { description: "For anything else." })
  await using pawl = await openPawl({ store: ":memory:", agents: [triage(handoff(billing([back])))], models: model })
  const first = await pawl.ask("Which?")
  expect(first).toMatchObject({ status: "answered", text: "One." })
  expect(await pawl.ask("And?", { conversation: first.conversationId })).toMatchObject({ text: "Back at triage." })
})
