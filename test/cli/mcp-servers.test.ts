import { beforeAll, expect, test } from "vitest"
import { mcpParts, type McpPart } from "../../apps/cli/commands/mcp-servers.ts"
import { type Client, createClient } from "../../client/index.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { PlayedAuthority } from "../mcp/played-authority.ts"
import { PlayedServer } from "../mcp/played-server.ts"
import { Browser } from "../support/server/browser.ts"
import { Face } from "../support/server/face.ts"

const ECHO = { name: "echo", description: "Says it again.", annotations: { idempotentHint: true } }

let face: Face

beforeAll(async () => {
  const { url } = await anyDatabase[0]!.create()
  face = await Face.open({ url, model: scripted(), reach: new OutboundPolicy(["127.0.0.1"]) })
  return () => face[Symbol.asyncDispose]()
})

async function clientOf(name: string): Promise<Client> {
  const { people } = face.store
  const { token } = await people.createToken(await people.ensure(name, 0), ["read", "manage"], Date.now())
  const fetch = async (input: string | URL | Request, init?: RequestInit) => face.fetch(new Request(input, init))
  return createClient({ baseUrl: "http://localhost", token, fetch })
}

/** A subcommand of `pawl mcp` as its process runs it; `told` has what it prints while it works. */
async function pawlMcp(name: string) {
  const client = await clientOf(name)
  const told: string[] = []
  const link = Promise.withResolvers<string>()
  const print = (words: string) => {
    told.push(words)
    const [url] = /http\S+authorize\S+/.exec(words) ?? []
    if (url !== undefined) link.resolve(url)
  }
  const run = (part: McpPart, words: readonly string[], { flags = {}, isEmbedded = true, stopping = forEver } = {}) =>
    mcpParts[part]({ client, words, flags, isEmbedded, stopping, print })
  return { run, told, link: link.promise }
}

const forEver = new AbortController().signal

test("`pawl mcp add` of a server that needs a sign-in prints the link, and ends when the person is back", async () => {
  await using there = await PlayedAuthority.open([ECHO])
  const { run, link } = await pawlMcp("ada")
  const adding = run("add", ["notes", there.server.url])
  const back = there.agree(await link)
  expect(back.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/)
  // A request without the expected state, as any page could send it, is ignored.
  const forged = await fetch(`${back.origin}/callback?code=a&state=b`)
  expect([forged.status, await forged.text()]).toEqual([400, expect.stringMatching(/started by another user/)])
  expect((await fetch(back.origin)).status).toBe(404)
  expect(await (await fetch(back)).text()).toMatch(/You are signed in to notes\./)
  expect(await adding).toMatch(/^You are signed in\.\nnotes \(yours, http\S+\): 1 tool for workspace\n {2}echo \[ask\]/)
  expect(await run("login", ["notes"])).toMatch(/^You are signed in to notes/)

  expect(await run("logout", ["notes"])).toBe("You are signed out of notes.")
  await expect(run("tools", ["notes"])).rejects.toThrow(/until the person signs in/)
  expect(await run("list", [])).toMatch(/\. Sign in: pawl mcp login notes$/)
  const stop = new AbortController()
  const again = await pawlMcp("ada")
  const waiting = again.run("login", ["notes"], { stopping: stop.signal })
  await again.link
  stop.abort()
  await expect(waiting).rejects.toThrow(/You are not signed in/)
})

test("`pawl mcp login` at a server waits until the person has finished it in their browser", async () => {
  await using there = await PlayedAuthority.open([ECHO])
  const { run, link } = await pawlMcp("bea")
  const adding = run("add", ["notes", there.server.url], { isEmbedded: false })
  const back = there.agree(await link)
  expect(`${back.origin}${back.pathname}`).toBe("http://localhost/mcp-sign-in/callback")
  const browser = await Browser.of(face, "bea")
  const page = await browser.get(back.pathname)
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("callback.js")])
  expect((await browser.post("/api/mcp-sign-in", { answer: back.search.slice(1) })).status).toBe(200)
  expect(await adding).toMatch(/^You are signed in\./)
})

test("`pawl mcp change` and `allow` print what they have done", async () => {
  await using server = await PlayedServer.open([ECHO])
  await using elsewhere = await PlayedServer.open([ECHO])
  const { run } = await pawlMcp("cy")
  await run("add", ["notes", server.url], { flags: { header: ["X-Key: one"] } })
  expect(await run("allow", ["notes", "echo"], { flags: { again: true } })).toMatch(/ask; repeated after a crash/)
  expect(await run("allow", ["notes", "echo"], { flags: { "not-again": true } })).toMatch(/\[ask\]/)
  await expect(run("change", ["notes"])).rejects.toThrow(/Name what to change/)
  const moved = await run("change", ["notes"], { flags: { name: "papers", url: elsewhere.url } })
  expect(moved).toMatch(/^papers \(yours, [^]*echo \[changed, not used until you allow it\]/)
  expect(await run("allow", ["papers", "echo", "read"])).toMatch(/echo \[read\]/)
})
