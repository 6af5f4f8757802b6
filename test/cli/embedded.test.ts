import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { openEmbedded } from "../../apps/cli/open/embedded.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

const configIn = (data: string) => readConfig({ PAWL_DATA: data, PAWL_LOG: "off" })

async function typesOf(frames: AsyncIterable<{ type: string }>): Promise<string[]> {
  const types: string[] = []
  for await (const { type } of frames) types.push(type)
  return types
}

test("a Pawl in this process works like a remote one, and leaves nothing in the folder it works in", async () => {
  const [data, dir] = [dataFolder(), dataFolder()]
  const config = configIn(data)
  let id: string
  {
    await using embedded = await openEmbedded(config, { dir })
    const { client, user } = embedded
    expect((await client.readIdentity()).user).toEqual(user)
    ;({ id } = await client.createConversation({ body: { agent: "workspace" } }))
    const types = await typesOf(client.run(id, "create a task called Call Ada"))
    expect(types).toContain("awaiting_confirmation")
    expect(embedded.conversations.newest).toBe(id)
  }
  // Another process in the same folder: the waiting change still waits, and is decided.
  await using again = await openEmbedded(config, { dir })
  expect(again.conversations.newest).toBe(id)
  const { proposals } = await again.client.readConversation({ params: { id } })
  expect(proposals.map(({ tool, status }) => [tool, status])).toEqual([["create_task", "pending"]])
  const { status } = await again.client.commitProposal({ params: { id: proposals[0]!.id } })
  expect(status).toBe("applied")
  expect(readdirSync(dir)).toEqual([])
  expect(existsSync(join(data, "pawl.db"))).toBe(true)
})

test("conversations of another folder are not this one's", async () => {
  const [data, dir, other] = [dataFolder(), dataFolder(), dataFolder()]
  await using one = await openEmbedded(configIn(data), { dir })
  await one.client.createConversation({ body: {} })
  await using two = await openEmbedded(configIn(data), { dir: other })
  expect(two.conversations.newest).toBeUndefined()
})

test("every command stores its data in the user's data folder, unless PAWL_DATA names another", () => {
  expect(readConfig({ HOME: "/home/ada" }).dataFolder).toBe("/home/ada/.local/share/pawl")
  expect(readConfig({ HOME: "/home/ada", XDG_DATA_HOME: "/data" }).dataFolder).toBe("/data/pawl")
  expect(readConfig({ HOME: "/home/ada", XDG_DATA_HOME: "data" }).dataFolder).toContain("/home/ada/")
  expect(readConfig({ HOME: "/home/ada", PAWL_DATA: "/here" }).dataFolder).toBe("/here")
})

test("a missing folder is refused with its name", async () => {
  await expect(openEmbedded(configIn(dataFolder()), { dir: "/nonexistent/x" })).rejects.toThrow(
    "The folder /nonexistent/x cannot be opened: the file or folder does not exist.",
  )
})
