import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import type { ModelRequest } from "../../core/engine/model.ts"
import { offlineModel } from "../../labs/offline-model/model.ts"
import { workspaceAgent } from "../../packs/workspace/agent.ts"
import { orchestrator } from "../../packs/workspace/routing/orchestrator.ts"
import { RouterDecision } from "../../core/protocol/conversation/stages.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { of, openChecked } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { WordEmbedder } from "../support/word-embedder.ts"

const agent = workspaceAgent(() => ({}) as never, {}, orchestrator)
const tools = agent.tools.visibleIn("auto")
const examples = tools.flatMap((tool) => tool.examples ?? [])
const model = offlineModel()

/** The calls that the offline model makes with these tools. */
async function called(text: string, shown: readonly string[]): Promise<string[]> {
  const declared = tools.filter(({ name }) => shown.includes(name)).map(({ declaration }) => declaration)
  const request: ModelRequest = { system: "", history: [{ role: "user", text }], tools: declared, toolChoice: "auto" }
  const found: string[] = []
  for await (const part of model.stream(request, new AbortController().signal))
    if (part.type === "call") found.push(`${part.name} ${part.input}`)
  return found
}

describe("with the tools that the router chose, the offline model", () => {
  test("understands each of its examples as it does with all tools, or asks for more", async () => {
    expect(examples.length).toBeGreaterThan(30)
    const sure: string[] = []
    for (const words of examples) {
      const signal = new AbortController().signal
      const { profiles, by } = await orchestrator({ words, history: [], profiles: agent.profiles ?? [] }, signal)
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

  test("gets far fewer tools for a plain request", async () => {
    const task = (agent.profiles ?? []).find(({ name }) => name === "task")
    expect(task?.tools.length).toBeLessThan(tools.length / 2)
    expect(task?.tools).toContain("list_projects")
  })
})

describe.each(anyDatabase)("the workspace's router in the loop on $name", ({ create }) => {
  test("keeps to the subject of the conversation, run by run", async () => {
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

test.each(["water the plants", "Wer war gestern da?", "what do you know about Acme?"])(
  "a turn about %j embeds nothing on the server",
  async (text) => {
    const embedder = new WordEmbedder()
    await using place = await anyDatabase[0]!.create()
    await using face = await Face.open({ url: place.url, embedder, model: scripted(says("Done.")) })
    const ada = await face.as("ada")
    const { body: conversation } = await ada.post("/api/conversations", { agent: "workspace" })
    await ada.post(`/api/conversations/${conversation.id}/messages`, { text })
    const { body: state } = await ada.get(`/api/conversations/${conversation.id}/state`)
    expect(state.routerDecision).toMatchObject({ by: "unsure", profiles: [] })
    expect(embedder.asked).toBe(0)
  },
)
