import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { expect, test } from "vitest"
import { toAnswer } from "../dialects/mcp-client.ts"
import { launcher } from "../support/processes/package.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

test("a program that starts `pawl mcp` asks an agent, and changes wait for approval", async () => {
  const { PATH = "" } = process.env
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [launcher, "mcp"],
    env: { PATH, PAWL_DATA: dataFolder() },
    stderr: "ignore",
  })
  const client = new Client({ name: "test", version: "1" })
  await client.connect(transport)
  const call = async (name: string, input = {}) =>
    toAnswer((await client.callTool({ name, arguments: input })) as never)
  const { facts } = await call("ask_agent", { message: "add a task: buy milk" })
  expect([facts.status, facts.proposals.length]).toEqual(["paused", 1])
  expect(facts.decide_at).toBe(`http://127.0.0.1:7295/c/${facts.conversation}`)
  expect((await call("list_proposals")).facts.proposals).toMatchObject([{ id: facts.proposals[0].id }])
  await client.close()
})
