import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { Question, QuestionAnswer } from "../../core/protocol/conversation/questions.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { Journal } from "../../core/engine/journal.ts"
import { anyDatabase, databasesInTurn } from "../support/databases.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { Face } from "../support/server/face.ts"
import { of } from "../support/loop/checked-world.ts"
import { TurnedClock, type World } from "../support/loop/world.ts"
import { type Age, AskingServer } from "./asking-server.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"

const WHEN = {
  message: "For how many?",
  requestedSchema: {
    type: "object" as const,
    properties: { people: { type: "integer" as const, title: "People", minimum: 1, maximum: 20 } },
    required: ["people"],
  },
}

/** A form of so many texts. */
const form = (fields: number) => ({
  type: "object" as const,
  properties: Object.fromEntries(Array.from({ length: fields }, (_, at) => [`f${at}`, { type: "string" as const }])),
})

const named = ({ url }: AskingServer, more: object = {}) => servers({ inn: { url, data: "public", ...more } })
const reads = { tools: { "*": "read" } }
/** Calls the tool, and answers once there is a result. */
const book = () =>
  scripted(always(({ history }) => (history.at(-1)?.role === "user" ? calls("inn__book", {}) : says("Done."))))
const ends = async (world: World, id: ConversationId) => of(await world.events(id), "tool_end")
const steps = async (world: World, id: ConversationId) =>
  of(await world.events(id), "step").filter(({ step }) => step.startsWith("question"))

type Asked = Question & { readonly at: ConversationId }

/** The next question in a conversation. */
async function asked(world: World, id: ConversationId, known: readonly string[] = []): Promise<Asked> {
  const find = async () => {
    const open = (await steps(world, id))
      .filter(({ step }) => step === "question")
      .map(({ detail }) => detail as Question)
    const found = open.find((question) => !known.includes(question.id))
    return found && { ...found, at: id }
  }
  const seen = world.seen(
    id,
    (live) => live.type === "events" && live.events.some((event) => event.type === "step" && event.step === "question"),
  )
  const there = await find()
  if (there) return there
  await seen
  return (await find())!
}

type Given = Pick<QuestionAnswer, "action" | "content">
const accept = (people?: number): Given => ({ action: "accept", ...(people ? { content: { people } } : {}) })
const decline: Given = { action: "decline" }
const reply = (world: World, { id: questionId, at: id }: Asked, answer: Given) =>
  world.pawl.runtime.submit(id, { type: "answer", questionId, by: world.user, ...answer })

describe.each(anyDatabase)("a question of a server in the middle of a call, on $name", ({ create }) => {
  test.each<Age>(["legacy", "modern"])(
    "is shown to the user, and the first answer goes back to the server (%s)",
    async (age) => {
      await using place = await create()
      await using server = await AskingServer.open(age, WHEN, WHEN)
      await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
      const { id } = await world.start("Book.", { attended: true })
      const first = await asked(world, id)
      expect(first).toMatchObject({
        ...{ server: "inn", tool: "book", message: "For how many?" },
        fields: [{ name: "people", label: "People", kind: "integer", isRequired: true, least: 1, most: 20 }],
      })
      await Promise.all([reply(world, first, accept(4)), reply(world, first, accept(5)).catch(() => {})])
      const second = await asked(world, id, [first.id])
      await reply(world, second, decline)
      await world.pawl.runtime.rest(id)
      const [one, two] = server.answers
      expect(one).toMatchObject({ action: "accept", content: { people: expect.toSatisfy((n) => n === 4 || n === 5) } })
      expect(two).toMatchObject({ action: "decline" })
      expect(server.calls).toBe(1)
      expect(
        (await steps(world, id)).map(({ step, detail }) => [step, (detail as { outcome?: string }).outcome]),
      ).toEqual([
        ["question", undefined],
        ["question_settled", "accept"],
        ["question", undefined],
        ["question_settled", "decline"],
      ])
      expect(await ends(world, id)).toMatchObject([{ status: "ok", text: expect.stringMatching(/^Was told/) }])
      expect((await world.load(id)).inbox).toEqual([])
      expect(world.problems).toEqual([])
    },
  )

  test.each<Age>(["legacy", "modern"])("is cancelled at once in an unattended conversation (%s)", async (age) => {
    await using place = await create()
    await using server = await AskingServer.open(age, WHEN)
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
    const id = await world.begin("Book.")
    expect(server.answers).toMatchObject([{ action: "cancel" }])
    expect(await steps(world, id)).toEqual([])
  })

  test("is waited for five minutes, which count neither for the call nor for the run", async () => {
    await using place = await create()
    await using server = await AskingServer.open("legacy", WHEN)
    const clock = new TurnedClock()
    const limits = { runSeconds: 180, restarts: 3, replyCharacters: 1000 }
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book(), clock, limits })
    const { id } = await world.start("Book.", { attended: true })
    const { expiresAt } = await asked(world, id)
    expect(expiresAt - clock.now()).toBe(300_000)
    await clock.turn(299_000)
    expect(world.pawl.runtime.isWorking(id)).toBe(true)
    await clock.turn(1000)
    await world.pawl.runtime.rest(id)
    expect(server.answers).toMatchObject([{ action: "cancel" }])
    expect((await steps(world, id)).at(-1)).toMatchObject({ detail: { outcome: "expired" } })
    const { run } = await world.load(id)
    expect(run).toMatchObject({ status: "completed" })
    expect(run!.workedMs).toBeLessThan(5000)
  })

  test("ends with its process: a write is in doubt, a read asks again, and a late answer is refused", async () => {
    await using place = await create()
    await using server = await AskingServer.open("legacy", WHEN)
    for (const more of [{}, reads]) {
      let id: ConversationId
      let question: Asked
      {
        await using world = await openMcpWorld(named(server, more), { url: place.url, model: book() })
        ;({ id } = await world.start("Book.", { attended: true }))
        if (more !== reads) {
          await world.pawl.runtime.rest(id)
          for (const { proposed } of await world.proposals(id))
            void world.decide(id, proposed.id, "commit").catch(() => {})
        }
        question = await asked(world, id)
        await world.pawl.runtime.close()
      }
      await using world = await openMcpWorld(named(server, more), { url: place.url, model: book() })
      await world.pawl.runtime.recover()
      if (more === reads) {
        const again = await asked(world, id, [question.id])
        await reply(world, question, accept(1)).catch(() => {})
        await reply(world, again, accept(2))
        await world.pawl.runtime.rest(id)
        expect(server.answers).toMatchObject([{ action: "accept", content: { people: 2 } }])
      } else {
        await world.pawl.runtime.rest(id)
        expect((await world.load(id)).calls).toMatchObject([{ state: "in_doubt" }])
        await expect(reply(world, question, accept(1))).rejects.toMatchObject({
          code: "question_settled",
        })
        expect(server.answers).toEqual([])
      }
    }
  })

  test("ends when the run is stopped", async () => {
    await using place = await create()
    await using server = await AskingServer.open("legacy", WHEN)
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
    const { id } = await world.start("Book.", { attended: true })
    await asked(world, id)
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    expect(await ends(world, id)).toMatchObject([{ status: "cancelled" }])
    expect((await world.load(id)).calls.some(({ question }) => question)).toBe(false)
  })

  test("belongs to the call over whose stream it comes if two are running", async () => {
    await using place = await create()
    await using server = await AskingServer.open("legacy", WHEN)
    server.isRelated = true
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
    const ids = await Promise.all([1, 2].map(async () => (await world.start("Book.", { attended: true })).id))
    for (const id of ids) await reply(world, await asked(world, id), decline)
    for (const id of ids) await world.pawl.runtime.rest(id)
    expect(server.answers).toMatchObject([{ action: "decline" }, { action: "decline" }])
  })

  test("is asked five times in a call and no more, and a malformed one is never shown", async () => {
    await using place = await create()
    const url = (address: string) => ({ mode: "url" as const, message: "Look.", elicitationId: "1", url: address })
    await using server = await AskingServer.open(
      "legacy",
      ...[url("http://inn.example/pay"), url("https://bank.example@inn.example/"), url("https://inn.example/pay?a=1")],
      { message: "All of it.", requestedSchema: form(61) },
      ...[WHEN, WHEN, WHEN, WHEN, WHEN],
    )
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
    const { id } = await world.start("Book.", { attended: true })
    const known: string[] = []
    for (let at = 0; at < 5; at++) {
      const question = await asked(world, id, known)
      known.push(question.id)
      if (at === 0) expect(question).toMatchObject({ url: "https://inn.example/pay?a=1", fields: [] })
      await reply(world, question, question.url ? accept() : accept(2))
    }
    await world.pawl.runtime.rest(id)
    expect(server.answers.map(({ action }) => action)).toEqual([
      ...["error", "error", "accept", "error"],
      ...["accept", "accept", "accept", "accept", "cancel"],
    ])
    expect(server.answers[2]).not.toHaveProperty("content")
  })

  test.each<Age>(["legacy", "modern"])(
    "is asked in parts if it has many fields, and answered as one (%s)",
    async (age) => {
      await using place = await create()
      await using server = await AskingServer.open(age, { message: "All of it.", requestedSchema: form(13) })
      await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
      const { id } = await world.start("Book.", { attended: true })
      const first = await asked(world, id)
      expect(first).toMatchObject({ message: "All of it.", part: { at: 1, of: 2 } })
      expect(first.fields).toHaveLength(12)
      await reply(world, first, { action: "accept", content: { f0: "a", f11: "b" } })
      const second = await asked(world, id, [first.id])
      expect(second).toMatchObject({ message: "All of it.", part: { at: 2, of: 2 }, fields: [{ name: "f12" }] })
      await reply(world, second, { action: "accept", content: { f12: "c" } })
      await world.pawl.runtime.rest(id)
      expect(server.answers).toMatchObject([{ action: "accept", content: { f0: "a", f11: "b", f12: "c" } }])
    },
  )

  test("is declined as a whole by a user who declines a part, and counts once of five", async () => {
    await using place = await create()
    const long = { message: "All of it.", requestedSchema: form(13) }
    await using server = await AskingServer.open("legacy", long, long, long, long, long, WHEN)
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
    const { id } = await world.start("Book.", { attended: true })
    const known: string[] = []
    for (let at = 0; at < 10; at++) {
      const question = await asked(world, id, known)
      known.push(question.id)
      await reply(world, question, at === 1 ? decline : { action: "accept", content: {} })
    }
    await world.pawl.runtime.rest(id)
    expect(server.answers.map(({ action }) => action)).toEqual([
      ...["decline", "accept", "accept", "accept", "accept"],
      "cancel",
    ])
  })

  test.each<[age: Age, status: string]>([
    ["legacy", "ok"],
    ["modern", "error"],
  ])("that cannot be shown is reported to the server and to the user (%s)", async (age, status) => {
    await using place = await create()
    const towns = Array.from({ length: 51 }, (_, at) => `Town ${at}`)
    const properties = { where: { type: "string" as const, enum: towns } }
    await using server = await AskingServer.open(age, {
      message: "Where?",
      requestedSchema: { type: "object", properties },
    })
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
    const { id } = await world.start("Book.", { attended: true })
    await world.pawl.runtime.rest(id)
    const why = "field 1 does not offer 1 to 50 plain texts to choose from"
    if (age === "legacy") {
      const message = expect.stringContaining(`The person was not asked: ${why}`)
      expect(server.answers).toMatchObject([{ action: "error", content: { code: -32602, message } }])
    }
    expect(await ends(world, id)).toMatchObject([
      { status, text: expect.stringContaining(`he person was not asked: ${why}`) },
    ])
    expect(await steps(world, id)).toEqual([])
  })

  test("shows no hidden characters, cursor codes or secrets", async () => {
    await using place = await create()
    const hidden = "\u001b[2J\u001b]8;;https://evil.example\u0007Your password?\u202e\u200b\u200b"
    await using server = await AskingServer.open("legacy", {
      message: hidden,
      requestedSchema: { type: "object", properties: { word: { type: "string", title: hidden, description: hidden } } },
    })
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: book() })
    const { id } = await world.start("Book.", { attended: true })
    const question = await asked(world, id)
    expect(JSON.stringify(question)).not.toMatch(/\\u001b|\\u0007|[\u001b\u0007\u202e\u200b]/)
    expect(question.message).toContain("Your password?")
    await reply(world, question, { action: "cancel" })
    await world.pawl.runtime.rest(id)
  })
})

describe.each(anyDatabase)("over HTTP, on $name, a question", ({ create }) => {
  test("is answered once, by its user, with the requested fields", async () => {
    await using place = await create()
    await using server = await AskingServer.open("modern", WHEN)
    await using face = await Face.open({ url: place.url, model: book(), mcp: named(server, reads) })
    const [ada, bob] = [await face.as("ada"), await face.as("bob")]
    const reader = await face.as("ada", "read", "chat")
    const id = await ada.begin({ agent: "test" })
    const said = ada.post(`/api/conversations/${id}/messages`, { text: "Book.", attended: true })
    const open = async (): Promise<Question> => {
      for (;;) {
        const { steps } = (await ada.get(`/api/conversations/${id}`)).body
        const found = steps.find(({ step }: { step: string }) => step === "question")
        if (found) return found.detail
        await new Promise(setImmediate)
      }
    }
    const question = await open()
    const path = `/api/conversations/${id}/questions/${question.id}`
    expect((await bob.post(path, accept(4))).status).toBe(404)
    expect((await reader.post(path, accept(4))).status).toBe(403)
    for (const [content, problem] of [
      [{}, /content.people: is needed/],
      [{ people: "4" }, /content.people: must be a number/],
      [{ people: 21 }, /content.people: must be at least 1, at most 20/],
      [{ people: 4, name: "Ada" }, /content.name: was not asked for/],
    ] as const) {
      const refused = await ada.post(path, { action: "accept", content })
      expect([refused.status, refused.body.detail]).toEqual([400, expect.stringMatching(problem)])
    }
    const both = await Promise.all([ada.post(path, accept(4)), ada.post(path, { action: "decline" })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(both.find(({ status }) => status === 409)?.body.code).toBe("question_settled")
    await said
    const outcome = both.find(({ status }) => status === 200)?.body.outcome
    expect(server.answers).toMatchObject([{ action: outcome }])
    expect((await ada.post(path, accept(4))).body.code).toBe("question_settled")
    expect((await ada.post(`/api/conversations/${id}/questions/ques_none`, accept(4))).status).toBe(409)
  })
})

describe.each(databasesInTurn(import.meta.filename))("a question whose process is killed, on $name,", ({ create }) => {
  // After the sixth write the call has started: then the question, the answer in the inbox, the recorded answer, and
  // the result.
  const fatal = [7, 8, 9, 10].flatMap((at) => [
    { at, when: "before" as const },
    { at, when: "after" as const },
  ])

  test("never loses an answer, and its call is sent once", async () => {
    await using place = await create()
    const became: string[] = []
    for (const death of fatal) {
      await using server = await AskingServer.open("modern", WHEN)
      let journal: ReturnType<typeof dyingAt> | undefined
      let id: ConversationId
      {
        const between = (real: Journal) => (journal = dyingAt(death, real))
        await using world = await openMcpWorld(named(server), { url: place.url, model: book(), between })
        id = await world.begin("Book.", { attended: true })
        const [open] = await world.proposals(id)
        const decided = world.decide(id, open!.proposed.id, "commit").catch(() => {})
        const question = death.at === 7 ? undefined : await asked(world, id)
        if (question) await reply(world, question, accept(4)).catch(() => {})
        await Promise.race([decided, died(() => journal?.dead === true)])
      }
      await using world = await openMcpWorld(named(server), { url: place.url, model: book() })
      await world.pawl.runtime.recover()
      await world.pawl.runtime.rest(id)
      const { calls: open, inbox } = await world.load(id)
      const [end] = await ends(world, id)
      became.push(end?.status ?? open[0]!.state)
      expect(open.some(({ question }) => question)).toBe(false)
      expect(inbox).toEqual([])
      expect(server.calls).toBe(1)
      expect(world.problems).toEqual([])
    }
    expect(became).toEqual([
      ...["in_doubt", "in_doubt", "in_doubt", "in_doubt"],
      ...["in_doubt", "in_doubt", "in_doubt", "ok"],
    ])
  })
})

async function died(isDead: () => boolean): Promise<void> {
  while (!isDead()) await new Promise(setImmediate)
}
