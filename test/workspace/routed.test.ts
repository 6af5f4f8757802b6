import { describe, expect, test } from "vitest"
import { answer } from "../../src/agent/definition/tool.ts"
import type { ModelRequest } from "../../src/agent/model.ts"
import { offlineModel } from "../../src/models/offline/model.ts"
import { workspaceAgent } from "../../src/packs/workspace/agent.ts"
import { orchestrator } from "../../src/packs/workspace/routing/orchestrator.ts"
import { RouterDecision } from "../../src/protocol/conversation/router-decision.ts"
import { scripted } from "../../src/models/scripted/model.ts"
import { calls, says } from "../../src/models/scripted/script.ts"
import { of, openChecked } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"

const agent = workspaceAgent(() => ({}) as never, {}, orchestrator())
const tools = agent.tools.visibleIn("auto")
const phrases = tools.flatMap(({ name, phrases }) => (phrases ? [{ tool: name, phrases }] : []))
const examples = phrases.flatMap(({ phrases }) => phrases.map(({ example }) => example))
const model = offlineModel(() => phrases)

/** The calls that the offline model makes, shown these tools. */
async function called(text: string, shown: readonly string[]): Promise<string[]> {
  const declared = tools.filter(({ name }) => shown.includes(name)).map(({ declaration }) => declaration)
  const request: ModelRequest = { system: "", history: [{ role: "user", text }], tools: declared, toolChoice: "auto" }
  const found: string[] = []
  for await (const part of model.stream(request, new AbortController().signal))
    if (part.type === "call") found.push(`${part.name} ${part.input}`)
  return found
}

describe("with the tools that the router chose, the offline model", () => {
  test("understands every example that it gives as it does with all of them, or asks for more", async () => {
    expect(examples.length).toBeGreaterThan(30)
    const sure: string[] = []
    for (const words of examples) {
      const signal = new AbortController().signal
      const { profiles, by } = await orchestrator()({ words, history: [], profiles: agent.profiles ?? [] }, signal)
      if (by === "unsure") continue
      const chosen = (agent.profiles ?? []).filter(({ name }) => profiles.includes(name)).flatMap(({ tools }) => tools)
      const all = await called(
        words,
        agent.tools.names.filter((name) => name !== "more_tools"),
      )
      expect([words, await called(words, [...chosen, "more_tools"])]).toEqual([words, all])
      sure.push(words)
    }
    expect(sure.length / examples.length).toBeGreaterThan(0.8)
  })

  test("is shown far fewer tools for a plain request", async () => {
    const task = (agent.profiles ?? []).find(({ name }) => name === "task")
    expect(task?.tools.length).toBeLessThan(tools.length / 2)
    expect(task?.tools).toContain("list_projects")
  })
})

describe.each(anyDatabase)("the workspace's router in the loop on $name", ({ create }) => {
  test("keeps to what was spoken of, run by run", async () => {
    await using place = await create()
    const { profiles = [], route } = agent
    const fakes = tools.filter(({ name, effect }) => effect === "read" && name !== "more_tools")
    const quiet = fakes.map((tool) => ({ ...tool, run: () => answer("Found 2.") }))
    const shown = profiles.map((profile) => ({
      ...profile,
      tools: profile.tools.filter((name) => quiet.some((tool) => tool.name === name)),
    }))
    const script = scripted(
      calls("list_tasks"),
      says("Two."),
      says("Which?"),
      calls("list_notes"),
      says("None."),
      says("Ok."),
    )
    await using world = await openChecked({
      url: place.url,
      model: script,
      tools: quiet,
      agent: { profiles: shown, ...(route ? { route } : {}) },
    })
    const id = await world.begin("what is on my list of tasks?")
    await world.send(id, "mark the second one as done")
    await world.send(id, "now my notes")
    await world.send(id, "hm, whatever")
    const decided = of(await world.events(id), "step").map(({ detail }) => RouterDecision.parse(detail))
    expect(decided.map(({ by, profiles }) => [by, profiles])).toEqual([
      ["rules", ["task"]],
      ["rules", ["task", "checkpoint"]],
      ["rules", ["note", "task", "checkpoint"]],
      ["unsure", []],
    ])
    const last = script.received.at(-1)?.request.tools.map(({ name }) => name)
    expect(last).toEqual(quiet.map(({ name }) => name))
  })
})
