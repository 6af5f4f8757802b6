import { expect, test, vi } from "vitest"
import { createClient } from "../../src/client/index.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"

test("a conversation without a language model goes on from what was said, in the loop as it is served", async () => {
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
    // It goes on by itself, to its end or to the next question.
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

  // The task comes when its project is there.
  const project = await say("create a project called Move and a task Pack boxes in it")
  expect(titles(project)).toEqual([{ name: "Move" }])
  const task = await commit(project.proposals)
  expect(titles(task)).toEqual([{ title: "Pack boxes", project_id: expect.stringMatching(/^proj_/) }])
  const done = await commit(task.proposals)
  expect([done.proposals, done.messages.at(-1)?.content]).toEqual([
    [],
    expect.stringMatching(/^Task created: Pack boxes/),
  ])
  // What was made is what `it` is; and what was only proposed is proposed anew.
  expect(titles(await say("make it urgent"))).toEqual([{ task_id: expect.stringMatching(/^task_/), priority: "high" }])
  const both = await say("add buy milk and buy bread")
  expect(titles(both)).toEqual([{ title: "Buy milk" }, { title: "Buy bread" }])
  await commit(both.proposals)
  // By a part of its name, which has to be looked for.
  expect(titles(await say("move the bread to friday"))).toEqual([
    { task_id: expect.stringMatching(/^task_/), due_date: "friday" },
  ])
  const asked = await say("delete buy")
  expect([asked.proposals, asked.messages.at(-1)?.content]).toEqual([
    [],
    expect.stringContaining("Which one do you mean?"),
  ])
  const second = await say("the second")
  expect(second.proposals.map(({ summary }) => summary)).toEqual([expect.stringMatching(/^Delete task Buy bread/)])
})
