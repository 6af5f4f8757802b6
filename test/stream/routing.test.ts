import { describe, expect, test } from "vitest"
import type { Router } from "../../core/engine/definition/agent.ts"
import { emptyTranscript, reduce } from "../../client/index.ts"
import { offlineModel } from "../../labs/offline-model/model.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { RouterDecision } from "../../core/protocol/conversation/stages.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { isOver, readFrames, transcriptOf } from "../support/server/stream.ts"
import { read } from "../support/loop/tools.ts"

const profile = (name: string) => ({ name, description: "x", tools: [`list_${name}s`] })
const route: Router = ({ words }) => {
  const name = words.includes("task") ? "task" : "note"
  return { profiles: [name], reason: "By name.", scores: { [name]: 1 }, by: "rules" }
}
const agent = { profiles: [profile("task"), profile("note")], route }
const tools = [read("list_tasks"), read("list_notes")]
const decided = {
  ...{ profiles: ["task"], tools: ["list_tasks"], reason: "By name.", scores: { task: 1 }, by: "rules" },
  ms: expect.any(Number) as number,
}

describe.each(anyDatabase)("a routing decision on $name", (database) => {
  test("looks the same on a stream and on a socket, and the run is the same as JSON", async () => {
    const script = [calls("list_tasks"), says("None, I looked.", { chunks: 5 })]
    const model = scripted(...script, ...script, ...script)
    await using server = await openServer({ database, model, tools, agent })
    const ada = await server.visitor("ada")
    const [json, sse, ws] = [
      await ada.begin({ agent: "test" }),
      await ada.begin({ agent: "test" }),
      await ada.begin({ agent: "test" }),
    ] as [string, string, string]
    const answer = (await ada.say(json, "my tasks")).body
    const sent = { body: { text: "my tasks" }, headers: { accept: "text/event-stream" } }
    const streamed = await readFrames(await ada.send("POST", `/api/conversations/${sse}/messages`, sent), () => false)
    using peer = await server.socket("ada")
    peer.send({ type: "attach", conversationId: ws, after: "1" })
    peer.send({ type: "chat_request", message: "my tasks", context: { conversationId: ws } })
    await peer.next("final")
    await peer.until(() => isOver(peer.events(ws)))

    for (const frames of [streamed, peer.events(ws)]) {
      const { rows } = transcriptOf(frames)
      expect(rows.map(({ type }) => type)).toEqual([
        ...["run_started", "message", "step", "message", "tool_start", "tool_end", "message", "run_ended"],
      ])
      const { step, detail } = rows.find(({ type }) => type === "step")?.data ?? {}
      expect([step, RouterDecision.parse(detail)]).toEqual(["routing", decided])
      const { items } = frames.reduce(reduce, emptyTranscript)
      expect(items.map(({ type }) => type)).toEqual(["message", "step", "message", "call", "message"])
      expect(items[1]).toMatchObject({ step: "routing", detail: decided })
    }
    expect(transcriptOf(peer.events(ws)).shown).toEqual(transcriptOf(streamed).shown)
    const contents = (messages: { role: string; content: string }[]) =>
      messages.map(({ role, content }) => [role, content])
    for (const id of [sse, ws])
      expect(contents((await ada.get(`/api/conversations/${id}`)).body.messages)).toEqual(contents(answer.messages))
  })

  test("is part of the state at any position, and of a fork's state", async () => {
    await using server = await openServer({ database, model: scripted(says("None."), says("None.")), tools, agent })
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    await ada.say(id, "my tasks")
    await ada.say(id, "my notes")
    const at = async (of: string, position: number) =>
      (await ada.get(`/api/conversations/${of}/state?at=${position}`)).body.routerDecision
    const profiles = await Promise.all(
      Array.from({ length: 11 }, async (_, index) => (await at(id, index + 1))?.profiles[0] ?? null),
    )
    const [none, task, note] = [null, "task", "note"]
    expect(profiles).toEqual([none, none, none, task, task, task, task, none, note, note, note])
    const forked = (await ada.post(`/api/conversations/${id}/fork`, { position: 6 })).body.id
    expect(await at(forked, 6)).toEqual(decided)
  })

  test("a wrong one does not keep the offline model from understanding", async () => {
    const offered = [{ name: "list_tasks", examples: ["list my tasks"] }]
    await using server = await openServer({ database, model: offlineModel(offered), tools, agent })
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    const { messages } = (await ada.say(id, "list my todos")).body
    expect(
      messages.map(({ content, toolCalls }: { content: string; toolCalls: { name: string }[] | null }) => {
        return toolCalls ? toolCalls.map(({ name }) => name).join() : content
      }),
    ).toEqual([
      ...["list my todos", "more_tools", expect.stringContaining("All of your tools"), "list_tasks"],
      ...["list_tasks found", "list_tasks found"],
    ])
    // A request that it does not understand with all tools visible gets one answer, and the run ends.
    const { messages: lost, run } = (await ada.say(id, "sing")).body
    expect(run.status).toBe("completed")
    expect(lost.at(-1).content).toContain("I understand only plain requests like these")
    expect(lost.filter(({ role }: { role: string }) => role === "tool")).toEqual([]) // it sees them all since
  })
})
