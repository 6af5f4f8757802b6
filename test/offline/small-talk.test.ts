import { expect, test } from "vitest"
import { createClient } from "../../client/index.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"

// With the agents as the server has them.
test("the offline model greets, helps and accepts thanks in every agent, with requests that this agent's tools understand", async () => {
  const env = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" }
  await using server = new PawlProcess(["serve"], env)
  const [, baseUrl = ""] = await server.says(/listening on (\S+)/)
  const token = await tokenFor(env)
  const client = createClient({ baseUrl, token })
  const say = async (id: string, text: string) => {
    const answer = await client.sendMessage({ params: { id }, body: { text } })
    if (!("messages" in answer)) throw new Error("It was queued.")
    return { words: answer.messages.at(-1)?.content ?? "", answer }
  }

  const { items: agents } = await client.listAgents()
  const { items: tools } = await client.listTools()
  expect(agents.map(({ name }) => name)).toEqual(["workspace", "analyst", "research", "files"])
  for (const { name: agent, examples } of agents) {
    const own = tools.filter((tool) => tool.agent === agent).flatMap((tool) => tool.examples)
    expect(examples.length).toBeGreaterThan(3)
    expect(own).toEqual(expect.arrayContaining([...examples]))
    expect([...own, ...examples]).not.toContain("draw a chart of it")

    const { id } = await client.createConversation({ body: { agent } })
    for (const text of ["hello", "What can you do?", "help"]) {
      const { words } = await say(id, text)
      expect(words).toContain("offline model")
      expect(words).not.toContain("did not understand")
      const shown = [...words.matchAll(/^- `(.+)`$/gm)].map(([, line = ""]) => line)
      expect(shown.length).toBeGreaterThan(3)
      expect(own).toEqual(expect.arrayContaining(shown))
    }
    expect((await say(id, "thanks!")).words).toBe("You are welcome.")
  }

  const { id } = await client.createConversation({ body: { agent: "workspace" } })
  const { answer } = await say(id, "create a task called Call Ada")
  await client.rejectProposal({ params: { id: answer.proposals[0]!.id }, body: {} })
  const { messages } = await client.resumeRun({ params: { id } })
  expect(messages.at(-1)?.content).toMatch(/^All right/)
  expect(messages.at(-1)?.content).not.toMatch(/The person|unasked/)

  const analyst = await client.createConversation({ body: { agent: "analyst" } })
  expect((await say(analyst.id, "draw a chart of it")).words).toMatch(
    /^There is no result to draw yet\. Ask a question/,
  )
})
