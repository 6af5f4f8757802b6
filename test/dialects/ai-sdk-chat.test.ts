import { beforeAll, describe, expect, test } from "vitest"
import type { Model } from "../../src/agent/model.ts"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../src/models/scripted/model.ts"
import { calls, replies, says, thinks } from "../../src/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { type AiSdkPerson, aiSdkAs, plain, textOf } from "../support/dialects/ai-sdk-client.ts"
import { Face, type Visitor } from "../support/server/face.ts"

describe.each(anyDatabase)("useChat of the AI SDK speaks with an agent on $name", ({ create }) => {
  let face: Face
  let ada: AiSdkPerson
  let native: Visitor
  let current: ScriptedModel

  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))

  beforeAll(async () => {
    const model: Model = {
      ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
      stream: (request, signal) => current.stream(request, signal),
    }
    face = await Face.open({ url: (await create()).url, model })
    ada = await aiSdkAs(face, "ada")
    native = await face.as("ada")
    return () => face[Symbol.asyncDispose]()
  })

  test("what is said is answered, as a conversation like any other", async () => {
    plays(always(says("Four of them.", { chunks: 4 })))
    const chat = ada.chat({ id: "my chat / 1" })
    await chat.sendMessage({ text: "How many?" })
    expect([chat.status, chat.error]).toEqual(["ready", undefined])
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"])
    expect(textOf(chat.lastMessage)).toBe("Four of them.")
    const { conversationId, runId, status } = chat.lastMessage!.metadata.pawl
    expect([chat.lastMessage!.id, status]).toEqual([runId, "completed"])
    const { agent, messages } = (await native.get(`/api/conversations/${conversationId}`)).body
    expect([agent, ...messages.map(({ content }: { content: string }) => content)]).toEqual([
      ...["test", "How many?", "Four of them."],
    ])
    await chat.sendMessage({ text: "And now?" })
    expect(chat.messages).toHaveLength(4)
    expect(chat.lastMessage!.metadata.pawl.conversationId).toBe(conversationId)
  })

  test("tools are told with what they were called with and what came of it, each reply a step", async () => {
    plays(replies(thinks("Hm."), says("Let me look."), calls("unknown_tool", { a: 1 })), says("Four."))
    const chat = ada.chat()
    await chat.sendMessage({ text: "How many?" })
    const parts = plain(chat.lastMessage!.parts).map(({ state: _, ...part }) => part)
    expect(parts).toMatchObject([
      { type: "step-start" },
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Let me look." },
      { type: "tool-unknown_tool", input: { a: 1 }, errorText: expect.stringContaining("unknown_tool") },
      { type: "step-start" },
      { type: "text", text: "Four." },
    ])
    const told = (await native.get(`/ai-sdk/${chat.id}`)).body
    expect(told.messages.at(-1)).toEqual(plain(chat.lastMessage))
  })
})
