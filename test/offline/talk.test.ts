import { expect, test, vi } from "vitest"
import { createClient } from "../../client/index.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"

test("a conversation without a language model continues from its previous messages, on a real server", async () => {
  const env = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" }
  await using server = new PawlProcess(["serve"], env)
  const [, baseUrl = ""] = await server.says(/listening on (\S+)/)
  const token = await tokenFor(env)
  const client = createClient({ baseUrl, token })
  const { id } = await client.createConversation({ body: {} })
  const say = async (text: string) => {
    const answer = await client.sendMessage({ params: { id }, body: { text, timeZone: "Europe/Berlin" } })
    if (!("messages" in answer)) throw new Error("It was queued.")
    return answer
  }
  const commit = async (proposals: readonly { id: string }[]) => {
    for (const each of proposals) await client.commitProposal({ params: { id: each.id as never } })
    // It continues by itself, to its end or to the next question.
    const old = new Set(proposals.map((each) => each.id))
    return vi.waitUntil(
      async () => {
        const now = await client.readConversation({ params: { id } })
        return (now.status === "active" || now.proposals.some((each) => !old.has(each.id))) && now
      },
      { timeout: 60_000 },
    )
  }
  const titles = ({ proposals }: { proposals: readonly { arguments: object }[] }) =>
    proposals.map((each) => each.arguments)

  const project = await say("create a project called Move")
  expect(titles(project)).toEqual([{ name: "Move" }])
  await commit(project.proposals)
  // A change that the message superseded is proposed again.
  expect(titles(await say("add a task Pack boxes in project Move"))).toEqual([
    { title: "Pack boxes", project_id: "Move" },
  ])
  const done = await commit((await say("yes")).proposals)
  expect(done.messages.at(-1)?.content).toMatch(/^Task created: Pack boxes/)
  // "It" is the task that was created.
  expect(titles(await say("make it urgent"))).toEqual([{ task_id: expect.stringMatching(/^task_/), priority: "high" }])
  for (const text of ["add buy milk", "add buy bread"]) await commit((await say(text)).proposals)
  // By a part of its name, which needs a search.
  expect(titles(await say("move the bread to friday"))).toEqual([
    { task_id: expect.stringMatching(/^task_/), due_date: "friday" },
  ])
  const asked = await say("delete buy")
  expect([asked.proposals, asked.messages.at(-1)?.content]).toEqual([
    [],
    expect.stringMatching(/^Which one do you mean\?\n\n- `delete Buy milk`\n- `delete Buy bread`$/),
  ])
  const second = await say("delete Buy bread")
  expect(second.proposals.map(({ summary }) => summary)).toEqual([expect.stringMatching(/^Delete task "Buy bread"/)])
  // Only the tools for tasks are available there: it has to request the one that lists projects.
  expect(titles(await say("add a task Rent a van to Move"))).toEqual([
    { title: "Rent a van", project_id: expect.stringMatching(/^proj_/) },
  ])
  expect((await say("set a task for 30 February: dance")).messages.at(-1)?.content).toMatch(
    /^"30 February" is not a date\. Dates look like [^_]+ I have changed nothing\.$/,
  )
  expect(titles(await say("add a task Pack boxes in project Move"))).toHaveLength(1)
  await commit((await say("yes")).proposals)
  const [first, other] = [...((await say("complete Pack boxes")).messages.at(-1)?.content ?? "").matchAll(/`(.+)`/g)]
  expect(first?.[1]).toMatch(/^complete task_/)
  expect(other?.[1]).not.toBe(first?.[1])
  expect(titles(await say(first?.[1] ?? ""))).toEqual([{ task_id: first?.[1]?.split(" ")[1], status: "done" }])
})
