import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { expect, test } from "vitest"
import { z } from "zod"
import { createClient } from "../../client/index.ts"
import { defineTool, hasCode, openPawl } from "../../core/index.ts"
import type { UserTurn } from "../../core/engine/model.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { pdf } from "../support/message-files/images.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

test("questions of a program are visible and can be decided through its own server, with one engine", async () => {
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

test("uploaded files are shown to the models of a program, and stay with a fork", async () => {
  const model = scripted(always(says("Seen.")))
  await using pawl = await openPawl({ store: ":memory:", models: model })
  const { url, signInLink } = await pawl.listen({ port: 0, dataFolder: dataFolder() })
  const headers = { "content-type": "application/json", origin: url }
  const body = JSON.stringify({ secret: signInLink.split("#")[1] })
  const signedIn = await fetch(`${url}/api/auth/sign-in`, { method: "POST", headers, body })
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? ""
  const { pageSecret } = (await signedIn.json()) as { pageSecret: string }
  const own = { cookie, "x-pawl-session": pageSecret, origin: url }
  const client = createClient({
    baseUrl: url,
    fetch: (to, init) => fetch(to, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...own } }),
  })
  const text = await client.uploadFile({ file: Buffer.from("Pigeons"), query: { name: "a.txt" } })
  const paper = await client.uploadFile({ file: new Uint8Array(pdf("return at dusk")), query: { name: "a.pdf" } })
  const { id } = await client.createConversation({ body: {} })
  await client.sendMessage({ params: { id }, body: { text: "Look.", files: [text.id, paper.id] } })
  await pawl.ask("And?", { conversation: id })
  const shown = () => (model.received.at(-1)!.history[0] as UserTurn).shown!.map((each) => each.text).join("\n")
  expect(shown()).toMatch(/Pigeons[^]*return at dusk/)
  const { items } = await pawl.conversations.messages(id)
  const forked = await pawl.conversations.fork(id, { before: items.at(-2)!.id })
  await pawl.conversations.erase(id)
  await pawl.ask("Still there?", { conversation: forked.id })
  expect(shown()).toMatch(/Pigeons[^]*return at dusk/)
}, 30_000)

test("sign-in links have an address that a browser can open and a single slash, for any host", async () => {
  await using pawl = await openPawl({ store: ":memory:", models: scripted() })
  const folder = dataFolder()
  const everywhere = await pawl.listen({ port: 0, host: "0.0.0.0", dataFolder: folder })
  expect(everywhere.signInLink).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#.+/)
  const named = await pawl.listen({ port: 0, publicUrl: "https://pawl.example/", dataFolder: folder })
  expect(named.signInLink).toMatch(/^https:\/\/pawl\.example\/sign-in#.+/)
})

test("metrics count the questions of this program, also those before listen()", async () => {
  const look = defineTool({ name: "look", description: "d", input: z.object({}), effect: "read", run: () => "A cat." })
  const models = scripted(calls("look"), says("A cat."), says("A dog."))
  await using pawl = await openPawl({ store: ":memory:", models, agents: [{ name: "a", tools: [look] }] })
  await pawl.ask("What is there?")
  const { url } = await pawl.listen({ port: 0, dataFolder: dataFolder() })
  await pawl.ask("And there?")
  const counted = await (await fetch(`${url}/metrics`)).text()
  expect(counted).toMatch(/pawl_runs_total\{.*completed.*\} 2\n/)
  expect(counted).toMatch(/pawl_model_calls_total\{.*outcome="ok".*\} 3\n/)
  expect(counted).toMatch(/pawl_tool_calls_total\{.*look.*\} 1\n/)
})

test("listen() fails with `draining` during and after close(), and leaves no port open", async () => {
  const pawl = await openPawl({ store: ":memory:", models: scripted() })
  const free = createServer().listen(0, "127.0.0.1")
  await once(free, "listening")
  const { port } = free.address() as AddressInfo
  free.close()
  await once(free, "close")
  const draining = (error: unknown) => hasCode(error, "draining")
  const listens = () => pawl.listen({ port, dataFolder: dataFolder() })
  const during = listens()
  await Promise.all([expect(during).rejects.toSatisfy(draining), pawl.close()])
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  await expect(listens()).rejects.toSatisfy(draining)
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
})
