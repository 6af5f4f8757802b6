import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import { chatChunk, chatReply, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import {
  script,
  start,
  startLife,
  tokenOf,
  call,
  callsOnce,
  settings,
  stateOf,
  until,
  type Server,
} from "../support/processes/server-lives.ts"
import { Visitor } from "../support/server/face.ts"

vi.setConfig({ testTimeout: 180_000 })

describe("after kill -9", () => {
  test.concurrent.each(["tool", "reply"])(
    "a turn whose %s kills the process three times is set aside, the server stays up, and resume tries again",
    async (where) => {
      let deadly = true
      let server: Server | undefined
      await using provider = await ProviderServer.open((response, { body }) => {
        const done = body.messages.some(({ role }: { role: string }) => role === "tool")
        streamHead(response)
        if (where === "tool") return response.end(done ? chatReply("All done.") : call("kill"))
        if (!deadly) return response.end(chatReply("All done."))
        response.write(sse(chatChunk({ role: "assistant", content: "I beg" })))
        server?.child.kill("SIGKILL")
      })
      const environment = settings(provider)
      const token = await tokenOf(environment)
      const mark = join(environment.PAWL_DATA, "deadly")
      await writeFile(mark, "")
      server = await startLife(environment)
      const id = await new Visitor(fetch, token, server.url).begin()
      new Visitor(fetch, token, server.url).say(id, "go").catch(() => {})
      await server.ended
      for (const _ of ["second", "third"]) {
        // It may be dead before it reports that it listens.
        server = new PawlProcess([], { PAWL_PORT: "0", ...environment }, { script }) as Server
        expect((await server.ended).code).toBe(null)
      }
      await using fourth = await startLife(environment)
      const ada = new Visitor(fetch, token, fourth.url)
      const run = await until(
        () => stateOf(ada, id),
        ({ status }) => status !== "running",
        60_000,
      )
      expect(run).toMatchObject({ status: "failed", error: { code: "set_aside" } })
      expect(await ada.get("/healthz")).toMatchObject({ status: 200 })
      expect(fourth.child.exitCode).toBe(null)

      deadly = false
      await rm(mark)
      const resumed = await ada.post(`/api/conversations/${id}/resume`)
      expect(resumed.body.run.status).toBe("completed")
      expect(resumed.body.messages.at(-1).content).toBe("All done.")
    },
  )
})

describe("SIGTERM", () => {
  test.concurrent("does not wait for clients that only watch: their streams end, and they reconnect", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    const server = await start(environment)
    const ada = new Visitor(fetch, await tokenOf(environment), server.url)
    const watched = [await ada.watch(await ada.begin()), await ada.send("GET", "/api/feed")]
    const ends = watched.map((response) => response.text())
    expect((await server.kill("SIGTERM")).code).toBe(0)
    for (const text of await Promise.all(ends)) expect(text).toContain("event: ") // ended whole, not cut
  })

  test.concurrent("suspends running work: the next process continues it, and that does not count as a crash", async () => {
    await using provider = await callsOnce("hang")
    const environment = settings(provider)
    const token = await tokenOf(environment)
    const mark = join(environment.PAWL_DATA, "hanging")
    await writeFile(mark, "")
    let server = await startLife(environment)
    const id = await new Visitor(fetch, token, server.url).begin()
    const said = new Visitor(fetch, token, server.url).say(id, "go")
    await server.says(/hanging/)
    expect((await server.kill("SIGTERM")).code).toBe(0)
    expect((await said).status).toBe(202)
    // More often than a crash would be tolerated.
    for (let life = 0; life < 4; life++) {
      server = await startLife(environment)
      await server.says(/hanging/)
      expect((await server.kill("SIGTERM")).code).toBe(0)
    }
    await rm(mark)
    await using last = await startLife(environment)
    const ada = new Visitor(fetch, token, last.url)
    const run = await until(
      () => stateOf(ada, id),
      ({ status }) => status !== "running",
      60_000,
    )
    expect(run).toMatchObject({ status: "completed" })
  })
})
