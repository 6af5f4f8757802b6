import { describe, expect, expectTypeOf, test, vi } from "vitest"
import { z } from "zod"
import {
  agentTool,
  type Answer,
  askTool,
  defineTool,
  hasCode,
  openPawl,
  type Pawl,
  type PawlOptions,
  type Question,
} from "../../core/index.ts"
import { byTurn, calls, crashingStore, says, scripted } from "../../core/testing.ts"
import { AskingServer } from "../mcp/asking-server.ts"
import { databasesInTurn } from "../support/databases.ts"

type Waiting = Extract<Answer, { status: "waiting" }>

const book = defineTool({
  name: "book",
  description: "Books a table.",
  input: z.object({}),
  effect: "read",
  async run(_, { ask }) {
    const people = await ask({ message: "For how many?", answers: z.object({ people: z.int().min(1).max(20) }) })
    if (people.outcome !== "accept") return `Not booked: ${people.outcome}.`
    expectTypeOf(people.value).toEqualTypeOf<{ people: number }>()
    const name = await ask({ message: "Under which name?" })
    return name.outcome === "accept" ? `Booked for ${people.value.people} under ${name.value}.` : "Not booked."
  },
})
const inn = { name: "inn", description: "Books tables.", tools: [book] }
const resultIn = ({ received }: ReturnType<typeof scripted>) => {
  const last = received.at(-1)!.request.history.at(-1)
  return last?.role === "tool" ? last.results.map(({ text }) => text) : []
}
const waiting = async (asked: Promise<Answer>): Promise<Waiting> => {
  const answer = await asked
  expect(answer).toMatchObject({ status: "waiting", because: "question", proposals: [] })
  return answer as Waiting
}

describe.each(databasesInTurn(import.meta.filename))("questions, on $name", ({ create }) => {
  const openOn = (url: string, models: PawlOptions["models"], more: Partial<PawlOptions> = {}): Promise<Pawl> =>
    openPawl({ store: { url, durability: "normal" }, agents: [inn], models, ...more })
  const open = async (models: PawlOptions["models"], more?: Partial<PawlOptions>) =>
    openOn((await create()).url, models, more)

  test("a tool asks, the run waits, and the answers continue it", async () => {
    const models = scripted(calls("book", {}), says("Booked."))
    await using pawl = await open(models)
    const first = await waiting(pawl.ask("A table, please."))
    const { conversationId } = first
    expect(first.questions).toMatchObject([
      {
        conversationId,
        tool: "book",
        server: "",
        message: "For how many?",
        fields: [{ name: "people", kind: "integer" }],
      },
    ])
    const [question] = first.questions
    await expect(pawl.questions.answer(question!, { people: 21 })).rejects.toThrow(/people: must be/)
    await expect(pawl.questions.answer(question!, { persons: 2 })).rejects.toThrow(/persons: was not asked for/)
    await pawl.questions.answer(question!, { people: 4 })
    const second = await waiting(pawl.answer(conversationId))
    await expect(pawl.questions.answer(question!, { people: 5 })).rejects.toSatisfy((error) =>
      hasCode(error, "question_settled"),
    )
    expect(await pawl.questions.list(conversationId)).toEqual(second.questions)
    await pawl.questions.answer(second.questions[0]!, "Ada")
    expect(await pawl.answer(conversationId)).toMatchObject({ status: "answered", text: "Booked." })
    expect(resultIn(models)).toEqual(["Booked for 4 under Ada."])
    expect(await pawl.questions.list(conversationId)).toEqual([])
  })

  test("the answers survive restarts: no question is asked twice", async () => {
    const { url } = await create()
    const key = { key: "table" }
    const before = await openOn(url, scripted(calls("book", {})))
    const first = await waiting(before.ask("A table, please.", key))
    await before.close()

    const between = await openOn(url, scripted())
    expect(await waiting(between.ask("A table, please.", key))).toMatchObject({ questions: first.questions })
    await between.questions.answer(first.questions[0]!, { people: 4 })
    const second = await waiting(between.answer(first.conversationId))
    await between.close()

    const models = scripted(says("Booked."))
    await using after = await openOn(url, models)
    expect(await waiting(after.answer(first.conversationId))).toMatchObject({ questions: second.questions })
    await after.questions.answer(second.questions[0]!, "Ada")
    expect(await after.answer(first.conversationId)).toMatchObject({ text: "Booked." })
    expect(resultIn(models)).toEqual(["Booked for 4 under Ada."])
    const steps: string[] = []
    for await (const event of after.conversations.events(first.conversationId)) {
      if (event.type === "step") steps.push(event.data.step)
      if (event.type === "run_ended") break
    }
    expect(steps.filter((step) => step === "question")).toHaveLength(2)
  })

  test.each(["before", "after"] as const)(
    "a crash %s any write asks nothing twice and loses no answer",
    async (when) => {
      const key = { key: "table" }
      const script = () => scripted(byTurn(calls("book", {}), says("Booked.")))
      /** Answers what is asked, until the end. */
      const serve = async (pawl: Pawl) => {
        let answer = await pawl.ask("A table, please.", key)
        while (answer.status === "waiting") {
          const [question] = answer.questions
          const content = question!.message === "For how many?" ? { people: 4 } : "Ada"
          await pawl.questions.answer(question!, content).catch((error: unknown) => {
            if (!hasCode(error, "question_settled")) throw error // answered before the crash
          })
          answer = await pawl.answer(answer.conversationId)
        }
        return answer
      }
      for (let at = 1; ; at++) {
        const { url } = await create()
        const store = crashingStore({ url, durability: "normal" }, { at, when })
        {
          await using first = await openPawl({ store, agents: [inn], models: script() })
          const crash = vi.waitUntil(() => store.crashed, { timeout: 20_000, interval: 5 })
          await Promise.race([serve(first), crash]).catch(() => {})
          crash.catch(() => {}) // it did not crash
        }
        const models = script()
        await using pawl = await openOn(url, models)
        const answer = await serve(pawl)
        expect(answer, `crash ${when} write ${at}`).toMatchObject({ status: "answered", text: "Booked." })
        const asked: string[] = []
        const results: string[] = []
        for await (const event of pawl.conversations.events(answer.conversationId)) {
          if (event.type === "step" && event.data.step === "question")
            asked.push((event.data.detail as Question).message)
          if (event.type === "tool_end") results.push(event.data.text)
          if (event.type === "run_ended") break
        }
        expect([asked, results]).toEqual([["For how many?", "Under which name?"], ["Booked for 4 under Ada."]])
        if (!store.crashed) break
        expect(at).toBeLessThan(30)
      }
    },
    60_000,
  )

  test("an answer in another process reaches the call; the second of two throws", async () => {
    const { url } = await create()
    const models = scripted(calls("book", {}), says("Not booked."))
    await using pawl = await openOn(url, models)
    await using other = await openOn(url, models)
    const { questions, conversationId } = await waiting(pawl.ask("A table, please."))
    const answers = [pawl.questions.decline(questions[0]!), other.questions.answer(questions[0]!, { people: 2 })]
    const settled = await Promise.allSettled(answers)
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    const left = (await Promise.race([pawl.answer(conversationId)])) as Partial<Waiting>
    if (left.status === "waiting") await other.questions.decline(left.questions![0]!)
    expect((await pawl.answer(conversationId)).status).toBe("answered")
  })

  test("an agent asks with a tool; the user chooses, or declines", async () => {
    const question = { question: "Which wine?", choices: ["red", "white"] }
    const models = scripted(calls("ask_user", question), calls("ask_user", { question: "Why?" }), says("Red it is."))
    await using pawl = await open(models, { agents: [{ name: "waiter", tools: [askTool()] }] })
    const first = await waiting(pawl.ask("Wine, please."))
    expect(first.questions).toMatchObject([{ message: "Which wine?", fields: [{ kind: "choice" }] }])
    await expect(pawl.questions.answer(first.questions[0]!, "blue")).rejects.toThrow(/must be one of red, white/)
    await pawl.questions.answer(first.questions[0]!, "red")
    const second = await waiting(pawl.answer(first.conversationId))
    expect(resultIn(models)).toEqual(["red"])
    await pawl.questions.decline(second.questions[0]!)
    expect(await pawl.answer(first.conversationId)).toMatchObject({ text: "Red it is." })
    expect(resultIn(models)).toEqual(["The user did not want to answer. Do not ask again."])
  })

  test("a question of a sub-agent reaches the same user", async () => {
    const agents = [{ name: "assistant", tools: [agentTool(inn)] }]
    const models = scripted(calls("ask_inn", { task: "Book." }), calls("book", {}), says("No table."), says("Sorry."))
    await using pawl = await open(models, { agents })
    const first = await waiting(pawl.ask("A table, please."))
    expect(first.questions[0]!.conversationId).not.toBe(first.conversationId)
    expect(await pawl.questions.list(first.conversationId)).toEqual(first.questions)
    await pawl.people.create("ada")
    await expect(pawl.as("ada").questions.decline(first.questions[0]!)).rejects.toSatisfy((error) =>
      hasCode(error, "not_found"),
    )
    await pawl.questions.decline(first.questions[0]!)
    expect(await pawl.answer(first.conversationId)).toMatchObject({ text: "Sorry." })
  })

  test("a question expires like a proposal, and cancelling the run closes it", async () => {
    const models = scripted(calls("book", {}), says("Too late."), calls("book", {}))
    await using pawl = await open(models, { limits: { proposalMinutes: 0.01 } })
    const { conversationId } = await waiting(pawl.ask("A table, please."))
    await expect.poll(async () => (await pawl.conversations.get(conversationId)).status).toBe("active")
    expect(resultIn(models)).toEqual(["Not booked: expired."])
    const again = await waiting(pawl.ask("Again.", { conversation: conversationId }))
    expect(await pawl.conversations.cancel(conversationId)).toBe(true)
    expect(await pawl.questions.list(again.conversationId)).toEqual([])
  })

  test("a question that cannot be shown is an error of the tool", async () => {
    const ask = (message: string, answers: z.ZodType) =>
      defineTool({
        ...{ name: "ask", description: "Asks.", input: z.object({}), effect: "read" },
        run: async (_, context) => (await context.ask({ message, answers })).outcome,
      })
    const nested = ask("Who?", z.object({ who: z.object({ name: z.string() }) }))
    const models = scripted(calls("ask", {}), says("Failed."))
    await using pawl = await open(models, { agents: [{ name: "asker", tools: [nested] }] })
    expect((await pawl.ask("Ask.")).text).toBe("Failed.")
    expect(resultIn(models)[0]).toMatch(/field 1 is neither a text/)
  })

  test("a question of an MCP server is answered the same way if the caller says that a person is there", async () => {
    await using server = await AskingServer.open("modern", {
      message: "Sure?",
      requestedSchema: { type: "object", properties: {} },
    })
    const mcp = [{ name: "inn", url: server.url, tools: { "*": "read" } }] as const
    const models = scripted(calls("inn__book", {}), says("Booked."))
    await using pawl = await open(models, { agents: [{ name: "guest" }], mcp })
    const asked = await waiting(pawl.ask("A table, please.", { attended: true }))
    expect(asked.questions).toMatchObject([{ server: "inn", tool: "book" }])
    await pawl.questions.decline(asked.questions[0]!)
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ text: "Booked." })
  })
})
