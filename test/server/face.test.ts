import { describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import { calls, fails, hangs, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { ConversationDetail, MessagePage, QueuedAnswer, RunAnswer, StateAnswer } from "../../core/protocol/answers.ts"
import { ConversationView, Run } from "../../core/protocol/conversation/conversation.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const milk = calls("create_task", { title: "Buy milk" })

describe.each(anyDatabase)("the HTTP API on $name", ({ create }) => {
  const url = async () => (await create()).url

  test("a message, a proposal, a commit and the answer", async () => {
    const model = scripted(calls("list_tasks"), milk, says("Done: milk is on your list."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const begun = await ada.post("/api/conversations", { title: "Shopping" })
    expect(begun.status).toBe(201)
    const { id } = ConversationView.parse(begun.body)
    expect(begun.body).toMatchObject({
      title: "Shopping",
      agent: "workspace",
      mode: "confirm",
      status: "active",
      position: 1,
    })

    const said = await ada.say(id, "I need milk")
    expect(said.status).toBe(200)
    const paused = RunAnswer.parse(said.body)
    expect(paused.run).toMatchObject({ status: "paused", pauseReason: "awaiting_confirmation", iteration: 2 })
    expect(paused.conversation.status).toBe("awaiting_confirmation")
    expect(paused.messages.map(({ role, seq }) => [role, seq])).toEqual([
      ["user", 1],
      ["assistant", 2],
      ["tool", 3],
      ["assistant", 4],
    ])
    expect(paused.messages[2]).toMatchObject({ content: "No tasks found.", data: { total: 0 } })
    const [proposal] = paused.proposals
    expect(proposal).toMatchObject({
      tool: "create_task",
      status: "pending",
      arguments: { title: "Buy milk" },
      undoable: true,
    })
    expect((await ada.get("/api/agent/proposals?status=pending")).body.items).toEqual([proposal])

    const detail = ConversationDetail.parse((await ada.get(`/api/conversations/${id}`)).body)
    expect(detail.messages).toEqual(paused.messages)
    expect(detail.proposals).toEqual([proposal])

    const waiting = await ada.post(`/api/conversations/${id}/resume`)
    expect([waiting.status, waiting.body.code]).toEqual([409, "still_pending"])

    const committed = await ada.post(`/api/agent/proposals/${proposal?.id}/commit`)
    expect([committed.status, committed.body]).toEqual([200, { ...proposal, status: "applied" }])

    const resumed = await ada.post(`/api/conversations/${id}/resume`)
    expect(resumed.status).toBe(200)
    const done = RunAnswer.parse(resumed.body)
    expect(done.run).toMatchObject({ id: paused.run.id, status: "completed" })
    expect(done.messages.map(({ role, seq }) => [role, seq])).toEqual([
      ["tool", 5],
      ["assistant", 6],
    ])
    expect(done.messages[1]?.content).toBe("Done: milk is on your list.")
    expect(done.proposals).toEqual([])
    expect((await ada.post(`/api/conversations/${id}/resume`)).body).toEqual(resumed.body)

    const { user } = await face.store.journal.load(id)
    const tasks = await face.store.workspaceOf(user).select("tasks")
    expect(tasks.map(({ title }) => title)).toEqual(["Buy milk"])
    expect(face.logged).toEqual([])
  })

  test("messages one after the other are each answered, not only queued", async () => {
    const replies = Array.from({ length: 20 }, (_, n) => says(`${n}`))
    await using face = await Face.open({ url: await url(), model: scripted(...replies) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    for (let n = 0; n < replies.length; n++) {
      const { status, body } = await ada.say(id, "next")
      expect([status, body.messages?.at(-1)?.content]).toEqual([200, `${n}`])
      expect(body.messages).toHaveLength(2)
    }
  })

  test("a busy conversation queues, refuses or is cancelled, and continues afterwards", async () => {
    const model = scripted(hangs("So far"), says("To the third."), says("To the queued one."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const started = Promise.withResolvers<void>()
    face.pawl.ports.bus.subscribe(id as never, (live) => live.type === "text_delta" && started.resolve())
    const first = ada.say(id, "one")
    await started.promise

    const queued = await ada.say(id, "two")
    expect(queued.status).toBe(202)
    expect(QueuedAnswer.parse(queued.body).queued).toMatchObject({ text: "two", when: "queue" })
    const refused = await ada.say(id, "no", { when: "reject" })
    expect([refused.status, refused.body.code]).toEqual([409, "busy"])

    const patched = await ada.patch(`/api/conversations/${id}`, { title: "Named while busy" })
    expect([patched.status, patched.body.title]).toEqual([200, "Named while busy"])

    expect((await ada.post(`/api/conversations/${id}/cancel`)).body).toEqual({ cancelled: true })
    const cut = await first
    expect([cut.status, cut.body.run.status]).toEqual([200, "cancelled"])
    expect(cut.body.messages.map(({ content }: { content: string }) => content)).toEqual(["one", "So far"])

    const third = await ada.say(id, "three")
    expect(third.body.messages?.map(({ content }: { content: string }) => content)).toEqual(["three", "To the third."])
    await face.pawl.runtime.rest(id as never)
    const { messages, title } = (await ada.get(`/api/conversations/${id}`)).body
    expect(messages.at(-1).content).toBe("To the queued one.")
    expect(title).toBe("Named while busy")
    expect((await ada.post(`/api/conversations/${id}/cancel`)).body).toEqual({ cancelled: false })
  })

  test("a failed run reports why, and resume continues without repeating the message", async () => {
    const model = scripted(fails("auth"), says("Here I am."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const failed = await ada.say(id, "hello")
    expect([failed.status, failed.body.run.status, failed.body.run.error.code]).toEqual([200, "failed", "auth"])
    const resumed = await ada.post(`/api/conversations/${id}/resume`)
    expect(resumed.body.run).toMatchObject({ status: "completed" })
    expect(resumed.body.messages.map(({ content }: { content: string }) => content)).toEqual(["Here I am."])

    const runs = await ada.get(`/api/conversations/${id}/runs`)
    expect(runs.body.items.map((run: unknown) => Run.parse(run).status)).toEqual(["completed", "failed"])
    expect((await ada.get(`/api/runs/${resumed.body.run.id}`)).body).toEqual(resumed.body.run)
  })

  test("resume has nothing to do before the first message", async () => {
    await using face = await Face.open({ url: await url(), model: scripted() })
    const ada = await face.as("ada")
    const nothing = await ada.post(`/api/conversations/${await ada.begin()}/resume`)
    expect([nothing.status, nothing.body.code]).toEqual([409, "nothing_to_resume"])
  })

  test("a new message instead of a decision replaces the proposal", async () => {
    const model = scripted(milk, calls("create_task", { title: "Buy oat milk" }), says("Done."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const first = (await ada.say(id, "milk")).body.proposals[0]
    const second = await ada.say(id, "oat milk, please")
    expect(second.body.proposals.map((each: { summary: string }) => each.summary)).toEqual([
      expect.stringContaining("oat"),
    ])
    expect(second.body.messages[0].content).toBe("oat milk, please")
    const late = await ada.post(`/api/agent/proposals/${first.id}/commit`)
    expect([late.status, late.body.code, late.body.proposal.status]).toEqual([409, "proposal_decided", "superseded"])
    const runs = (await ada.get(`/api/conversations/${id}/runs`)).body.items as { status: string; endedAt: string }[]
    expect(runs.map(({ status, endedAt }) => [status, endedAt !== null])).toEqual([
      ["paused", false],
      ["cancelled", true],
    ])
  })

  test("lists come in pages, newest first", async () => {
    const model = scripted(...Array.from({ length: 7 }, (_, n) => says(`${n}`)))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift(await ada.begin())
    await (await face.as("bob")).begin()
    const all = await pages(async (cursor) => (await ada.get(`/api/conversations?limit=2&cursor=${cursor}`)).body)
    expect(all.map(({ id }) => id)).toEqual(ids)

    const id = ids[0] as string
    for (let n = 0; n < 7; n++) await ada.say(id, `say ${n}`)
    const runs = await pages(
      async (cursor) => (await ada.get(`/api/conversations/${id}/runs?limit=3&cursor=${cursor}`)).body,
    )
    expect(new Set(runs.map((run) => run.id)).size).toBe(7)

    const seqs: number[] = []
    for (let before: number | null = 1000; before !== null;) {
      const page: MessagePage = MessagePage.parse(
        (await ada.get(`/api/conversations/${id}/messages?before=${before}&limit=4`)).body,
      )
      seqs.unshift(...page.items.map(({ seq }) => seq))
      before = page.nextBefore
    }
    expect(seqs).toEqual(Array.from({ length: 14 }, (_, n) => n + 1))
  })

  test("results that are recorded in another order than their calls are paged in order, and none is left out", async () => {
    const names = ["first", "second", "third", "fourth"]
    const ended = Object.fromEntries(names.map((name) => [name, Promise.withResolvers<void>()]))
    // Each waits for the next one: the last call ends first.
    const tools = names.map((name, index) =>
      defineTool({
        name,
        description: `Is ${name}.`,
        input: z.object({}),
        effect: "read",
        afterCrash: "run-again",
        async run() {
          await ended[names[index + 1] ?? ""]?.promise
          ended[name]?.resolve()
          return answer(name)
        },
      }),
    )
    const model = scripted(calls(...names.map((name) => [name] as const)), says("Read."))
    await using face = await Face.open({ url: await url(), model, tools })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const { messages } = (await ada.say(id, "read")).body
    const contents = ["read", "", ...names, "Read."]
    expect(messages.map(({ content }: { content: string }) => content)).toEqual(contents)
    const found: string[] = []
    for (let before = "9"; before !== "null";) {
      const { items, nextBefore } = (await ada.get(`/api/conversations/${id}/messages?limit=1&before=${before}`)).body
      found.unshift(...items.map(({ content }: { content: string }) => content))
      before = String(nextBefore)
    }
    expect(found).toEqual(contents)
  })

  test("the state at any position can be read, and a conversation forked there", async () => {
    const model = scripted(milk, says("Done."), says("Forked."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const { proposals, conversation } = (await ada.say(id, "milk")).body
    await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)
    await ada.post(`/api/conversations/${id}/resume`)

    const now = StateAnswer.parse((await ada.get(`/api/conversations/${id}/state`)).body)
    expect(now).toMatchObject({ status: "completed", pauseReason: null, openProposals: [] })
    expect(now.toolHistory).toEqual([{ callId: proposals[0].callId, name: "create_task", status: "ok" }])
    const then = StateAnswer.parse((await ada.get(`/api/conversations/${id}/state?at=${conversation.position}`)).body)
    expect(then).toMatchObject({
      status: "paused",
      pauseReason: "awaiting_confirmation",
      openProposals: [proposals[0].id],
    })
    expect((await ada.get(`/api/conversations/${id}/state?at=1`)).body).toMatchObject({ status: null, iteration: 0 })
    expect((await ada.get(`/api/conversations/${id}/state?at=999`)).status).toBe(400)

    const forked = await ada.post(`/api/conversations/${id}/fork`, { position: conversation.position })
    expect([forked.status, forked.body.status]).toEqual([201, "active"])
    const answer = await ada.say(forked.body.id, "and now?")
    expect(answer.body.messages.at(-1).content).toBe("Forked.")
    expect((await ada.post(`/api/conversations/${id}/fork`, { position: 999 })).status).toBe(400)
  })

  test("a fork has all runs of the history that it copies, unchanged", async () => {
    const model = scripted(milk, says("Oh."), says("Ah."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    for (const words of ["milk", "no", "and now?"]) await ada.say(id, words)
    const { position } = (await ada.get(`/api/conversations/${id}`)).body
    const forked = await ada.post(`/api/conversations/${id}/fork`, { position })
    const runsOf = async (of: string) => {
      const runs = (await ada.get(`/api/conversations/${of}/runs`)).body.items as Record<string, unknown>[]
      for (const run of runs) expect((await ada.get(`/api/runs/${run.id as string}`)).body).toEqual(run)
      return runs.map(({ id: _, conversationId: __, usage: ___, ...run }) => run)
    }
    const runs = await runsOf(id)
    expect(runs.map(({ status }) => status)).toEqual(["completed", "completed", "cancelled"])
    expect(await runsOf(forked.body.id)).toEqual(runs)
  })

  test("settings are stored; auto needs the approve scope and the operator's permission", async () => {
    const model = scripted(milk, says("Done."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const chatter = await face.as("ada", "read", "chat")
    const id = await ada.begin({ model: "alias" })
    expect((await ada.get(`/api/conversations/${id}`)).body).toMatchObject({ model: "scripted", provider: "scripted" })
    const shy = await chatter.patch(`/api/conversations/${id}`, { mode: "auto" })
    expect([shy.status, shy.body.code]).toEqual([403, "forbidden"])
    expect((await chatter.post("/api/conversations", { mode: "auto" })).status).toBe(403)
    const patched = await ada.patch(`/api/conversations/${id}`, { mode: "auto", title: "T" })
    expect(patched.body).toMatchObject({ mode: "auto", title: "T", model: "scripted" })
    const said = await ada.say(id, "milk")
    expect(said.body.run.status).toBe("completed")
    expect(said.body.messages[2].content).toMatch(/^Task created: Buy milk/)
    const [applied] = (await ada.get("/api/agent/proposals")).body.items
    expect(applied).toMatchObject({ status: "applied", tool: "create_task" })

    await using strict = await Face.open({ url: await url(), model, policy: { forbidAuto: true } })
    const forbidden = await (await strict.as("ada")).post("/api/conversations", { mode: "auto" })
    expect([forbidden.status, forbidden.body.code]).toEqual([403, "mode_forbidden"])
  })

  test("a model is chosen by name or alias; an unknown or unconfigured one is a 400", async () => {
    await using face = await Face.open({ url: await url(), model: scripted() })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const models = { scripted: true, locked: false }
    const chosen = { conversationId: id, model: "scripted", models, fallback: { from: "server", models: [] } }
    const path = `/api/conversations/${id}/model`
    expect((await ada.get(path)).body).toEqual(chosen)
    expect((await ada.post(path, { name: "alias" })).body).toEqual(chosen)
    expect((await ada.get(`/api/conversations/${id}`)).body.model).toBe("scripted")
    const unknown = await ada.post(path, { name: "nope" })
    expect([unknown.status, unknown.body.code]).toEqual([400, "unknown_model"])
    const locked = await ada.post(path, { name: "locked" })
    expect([locked.status, locked.body.code]).toEqual([400, "model_unavailable"])
    expect(locked.body.detail).toContain("set LOCKED_KEY")
    expect((await ada.post("/api/conversations", { model: "nope" })).status).toBe(400)
    expect((await ada.patch(`/api/conversations/${id}`, { model: "locked" })).status).toBe(400)
    expect((await ada.get("/api/models")).body.default).toBe("scripted")
    expect((await ada.get("/api/agents")).body.items[0]).toMatchObject({
      name: "workspace",
      tools: expect.arrayContaining(["list_tasks", "create_task", "delete_task"]) as string[],
    })
    const { items: tools } = (await ada.get("/api/tools")).body
    expect(tools.find(({ name }: { name: string }) => name === "create_task")).toMatchObject({
      effect: "write",
      undoable: true,
      inputSchema: { type: "object" },
    })
  })
})

/** Everything a list holds, page by page. */
async function pages(read: (cursor: string) => Promise<{ items: { id: string }[]; nextCursor: string | null }>) {
  const all: { id: string }[] = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: { items: { id: string }[]; nextCursor: string | null } = await read(cursor)
    all.push(...page.items)
    cursor = page.nextCursor
  }
  return all
}
