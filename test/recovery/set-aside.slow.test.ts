import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { chatChunk, chatReply, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"
import { lifeNamed } from "../support/processes/package.ts"

vi.setConfig({ testTimeout: 180_000 })

const script = lifeNamed("server-life")
type Environment = Record<string, string>
type Server = PawlProcess & { readonly url: string }

/** A process that may end before it reports that it listens. */
function begin(environment: Environment): PawlProcess {
  const server = new PawlProcess([], { PAWL_PORT: "0", ...environment }, { script })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

async function start(environment: Environment): Promise<Server> {
  const server = begin(environment)
  const [, url] = await server.says(/listening on (\S+)\n/)
  return Object.assign(server, { url: url as string })
}

const call = (name: string) => {
  const calls = [{ index: 0, id: "c", type: "function", function: { name, arguments: "{}" } }]
  return sse(chatChunk({ role: "assistant", tool_calls: calls }), chatChunk({}, "tool_calls"), "[DONE]")
}

async function open(provider: ProviderServer) {
  const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen" }
  const token = await tokenFor(environment)
  const as = ({ url }: Server) => new Visitor(fetch, token, url)
  const mark = (name: string) => join(environment.PAWL_DATA, name)
  return { environment, as, mark }
}

const statesOf = async (ada: Visitor, ids: readonly string[]) =>
  Promise.all(
    ids.map(async (id) => {
      const { status, error } = (await ada.get(`/api/conversations/${id}/state`)).body
      return error ? `${status} ${error.code}` : (status as string)
    }),
  )

test("repeated kill -9 while waiting for a slow model sets nothing aside", async () => {
  let slow = true
  let asked = 0
  await using provider = await ProviderServer.open((response) => {
    asked++
    if (slow) return void streamHead(response).flushHeaders()
    streamHead(response).end(chatReply("All done."))
  })
  const { environment, as } = await open(provider)
  let server = await start(environment)
  const ada = as(server)
  const ids = await Promise.all([1, 2, 3, 4].map(() => ada.begin()))
  for (const id of ids) ada.say(id, "go").catch(() => {})
  for (let death = 1; death <= 5; death++) {
    await expect.poll(() => asked, { timeout: 60_000 }).toBeGreaterThanOrEqual(4 * death)
    await server.kill("SIGKILL")
    server = await start(environment)
  }
  slow = false
  await expect.poll(() => asked, { timeout: 60_000 }).toBeGreaterThanOrEqual(24)
  await server.kill("SIGKILL") // those it has asked wait for ever
  await using last = await start(environment)
  await expect
    .poll(() => statesOf(as(last), ids), { timeout: 60_000 })
    .toEqual(["completed", "completed", "completed", "completed"])
})

test("a tool that ends the process three times is set aside, and a run in another tool continues", async () => {
  await using provider = await ProviderServer.open((response, { body }) => {
    const said = body.messages as { role: string; content: unknown }[]
    const done = said.some(({ role }) => role === "tool")
    streamHead(response).end(
      done ? chatReply("All done.") : call(JSON.stringify(said).includes("KILLS") ? "kill" : "hang"),
    )
  })
  const { environment, as, mark } = await open(provider)
  await writeFile(mark("hanging"), "")
  await writeFile(mark("deadly"), "")
  const first = await start(environment)
  const ada = as(first)
  const innocent = await Promise.all([1, 2, 3].map(() => ada.begin()))
  for (const id of innocent) ada.say(id, "go").catch(() => {})
  await first.says(/(hanging\n[^]*){3}/)
  const culprit = await ada.begin()
  ada.say(culprit, "this KILLS").catch(() => {})
  await first.ended
  expect((await begin(environment).ended).code).toBe(null)
  await rm(mark("hanging"))
  // From here on runs are taken up one at a time: the others are done, and it alone is at work when it ends the process.
  expect((await begin(environment).ended).code).toBe(null)
  await using fourth = await start(environment)
  await expect
    .poll(() => statesOf(as(fourth), [...innocent, culprit]), { timeout: 60_000 })
    .toEqual(["completed", "completed", "completed", "failed set_aside"])
  expect(fourth.child.exitCode).toBe(null)
})
