import { expect, test } from "vitest"
import { z } from "zod"
import { createClient } from "../../src/client/index.ts"
import { defineTool, openPawl } from "../../src/index.ts"
import { calls, says, scripted } from "../../src/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

test("what a program asks is seen and decided through its own server, by the one engine", async () => {
  const done: string[] = []
  const note = defineTool({
    name: "note",
    description: "Notes.",
    input: z.object({ text: z.string() }),
    effect: "write",
    run: ({ text }) => `Note ${done.push(text)}.`,
  })
  const model = scripted(calls("note", { text: "Hi" }), says("Noted."), says("Through the door."))
  const pawl = await openPawl({ store: ":memory:", models: model, agents: [{ name: "notes", tools: [note] }] })
  const { url, signInLink } = await pawl.listen({ port: 0, dataFolder: dataFolder() })
  expect(signInLink).toMatch(new RegExp(`^${url}/sign-in#.+`))
  expect((await fetch(`${url}/healthz`)).status).toBe(200)

  const { conversationId } = await pawl.ask("Note it.")
  const secret = signInLink.split("#")[1]!
  const headers = { "content-type": "application/json", origin: url }
  const signedIn = await fetch(`${url}/api/auth/sign-in`, { method: "POST", headers, body: JSON.stringify({ secret }) })
  expect(signedIn.status).toBe(200)
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? ""
  const { pageSecret } = (await signedIn.json()) as { pageSecret: string }
  const own = { cookie, "x-pawl-session": pageSecret, origin: url }
  const client = createClient({
    baseUrl: url,
    fetch: (to, init) => fetch(to, { ...init, headers: { ...own, "content-type": "application/json" } }),
  })
  const { proposals } = await client.readConversation({ params: { id: conversationId } })
  await client.commitProposal({ params: { id: proposals[0]!.id } })
  expect(done).toEqual(["Hi"])
  expect(await pawl.answer(conversationId)).toMatchObject({ status: "answered", text: "Noted." })
  await pawl.close()
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
})
