import { expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"

test("a user's key does not affect the results of other users, whatever it is", async () => {
  const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" }
  await using server = new PawlProcess(["serve"], settings)
  const url = (await server.says(/listening on (\S+)/))[1] ?? ""
  const as = async (name: string) => {
    const token = await tokenFor(settings, name)
    return async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const response = await fetch(`${url}/api${path}`, {
        method,
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said; the test looks into it freely
      return { status: response.status, body: (await response.json()) as any }
    }
  }
  const [ada, bob] = [await as("ada"), await as("bob")]
  expect((await bob("PUT", "/providers/openai", { apiKey: "milk-and-bread" })).status).toBe(200)
  expect((await bob("GET", "/models")).status).toBe(200) // from here on it is in use
  const { body: conversation } = await ada("POST", "/conversations", { agent: "workspace", mode: "auto" })
  const said = await ada("POST", `/conversations/${conversation.id}/messages`, {
    text: "add a task: buy milk-and-bread",
  })
  expect(JSON.stringify(said.body)).toContain("Task created: Buy milk-and-bread")
  expect(JSON.stringify(said.body)).not.toContain("[hidden]")
})
