import { beforeEach, describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../../core/engine/definition/tool.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { databases } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"
import { aiSdkAs, type NodeChat, textOf } from "../ai-sdk-client.ts"

describe.each(databases)("messages of a page that come while a run is active, on $name", ({ create }) => {
  let started: PromiseWithResolvers<void>
  let released: PromiseWithResolvers<void>
  beforeEach(() => {
    started = Promise.withResolvers()
    released = Promise.withResolvers()
  })
  const slow = defineTool({
    ...{ name: "look", description: "Looks.", input: z.object({}), effect: "read", afterCrash: "run-again" },
    run: async () => {
      started.resolve()
      await released.promise
      return answer("Seen.")
    },
  })

  const open = async () => {
    const face = await Face.open({
      ...{ url: (await create()).url, tools: [slow] },
      model: scripted(calls("look"), says("One."), says("Two."), says("Three.")),
    })
    const ada = await aiSdkAs(face, "ada")
    const page = (id: string) => ada.chat({ id, experimental_queue: true })
    const native = await face.as("ada")
    const stored = async (chat: NodeChat) =>
      (await native.get(`/ai-sdk/${chat.id}`)).body.messages.map(textOf).filter((text: string) => text !== "")
    return { face, native, page, stored, [Symbol.asyncDispose]: () => face[Symbol.asyncDispose]() }
  }

  test("the client's queue is answered in order", async () => {
    await using opened = await open()
    const chat = opened.page("in-order")
    const all = ["First", "Second", "Third"].map((text) => chat.sendMessage({ text }))
    await started.promise
    released.resolve()
    await Promise.all(all)
    await expect.poll(() => chat.messages.length).toBe(6)
    await expect.poll(() => chat.status).toBe("ready")
    expect(chat.messages.map(textOf)).toEqual(["First", "One.", "Second", "Two.", "Third", "Three."])
    expect(chat.error).toBeUndefined()
  })

  test("a message that the page sends at once waits for the run, which continues, and is then answered", async () => {
    await using opened = await open()
    const chat = opened.page("at-once")
    const first = chat.sendMessage({ text: "First" })
    await started.promise
    await chat.sendMessage({ text: "Second" })
    const [queued] = chat.experimental_queuedMessages
    const sent = chat.experimental_sendQueuedMessageNow(queued!.id)
    await expect.poll(async () => (await queueOf(opened, chat)).length).toBe(1)
    released.resolve()
    await Promise.all([first, sent])
    await expect.poll(() => chat.status).toBe("ready")
    expect([textOf(chat.lastMessage), chat.error]).toEqual(["Two.", undefined])
    expect(await opened.stored(chat)).toEqual(["First", "One.", "Second", "Two."])
  })

  test("a message of a second page waits; sent again it is still one message", async () => {
    await using opened = await open()
    const [one, two] = [opened.page("two-pages"), opened.page("two-pages")]
    const first = one.sendMessage({ text: "First" })
    await started.promise
    const second = two.sendMessage({ text: "Second" })
    await expect.poll(async () => (await queueOf(opened, two)).length).toBe(1)
    const again = opened.page("two-pages")
    const repeated = again.sendMessage({ ...structuredClone(two.lastMessage!) })
    released.resolve()
    await Promise.all([first, second, repeated])
    expect([one, two, again].map((chat) => textOf(chat.lastMessage))).toEqual(["One.", "Two.", "Two."])
    expect(await opened.stored(one)).toEqual(["First", "One.", "Second", "Two."])
  })

  test("stopping the active run does not stop a message that waits; a withdrawn message ends its stream", async () => {
    await using opened = await open()
    const [one, two, three] = [opened.page("stops"), opened.page("stops"), opened.page("stops")]
    const first = one.sendMessage({ text: "First" })
    await started.promise
    const second = two.sendMessage({ text: "Second" })
    const third = three.sendMessage({ text: "Third" })
    await expect.poll(async () => (await queueOf(opened, two)).length).toBe(2)
    const waiting = await queueOf(opened, two)
    const withdrawn = waiting.find(({ text }: { text: string }) => text === "Third")
    const { conversationId } = one.lastMessage!.metadata.pawl
    await opened.native.delete(`/api/conversations/${conversationId}/queue/${withdrawn.id}`)
    await third
    expect([three.status, three.error]).toEqual(["ready", undefined])
    await opened.native.post("/ai-sdk/stops/stop", { activeStreamId: one.lastMessage!.id })
    released.resolve()
    await Promise.all([first, second])
    expect([two.status, two.error]).toEqual(["ready", undefined])
    expect(await opened.stored(one)).toContain("Second")
    expect(await opened.stored(one)).not.toContain("Third")
  })

  async function queueOf({ native }: Awaited<ReturnType<typeof open>>, chat: NodeChat) {
    const { conversationId } = (await native.get(`/ai-sdk/${chat.id}`)).body
    return (await native.get(`/api/conversations/${conversationId}/queue`)).body.items
  }
})
