import { once } from "node:events"
import { rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { start, startLife, tokenOf, callsOnce, settings, stateOf, until } from "../support/processes/server-lives.ts"
import { Visitor } from "../support/server/face.ts"
import { waitsForNothing } from "../support/processes/waits-for-nothing.ts"

vi.setConfig({ testTimeout: 180_000 })

test("after kill -9 in the middle of a tool, the run continues by itself with the next start, at once and unasked", async () => {
  await using provider = await callsOnce("hang")
  const environment = settings(provider)
  const token = await tokenOf(environment)
  await writeFile(join(environment.PAWL_DATA, "hanging"), "")
  const first = await startLife(environment)
  const id = await new Visitor(fetch, token, first.url).begin()
  new Visitor(fetch, token, first.url).say(id, "go").catch(() => {})
  await first.says(/hanging/)
  await first.kill("SIGKILL")
  await rm(join(environment.PAWL_DATA, "hanging"))
  expect(provider.received).toHaveLength(1)

  await using second = await startLife({ ...environment, ...waitsForNothing })
  // Watched at the provider, because no request may reach the server.
  await until(
    async () => provider.received.length,
    (asked) => asked === 2,
    60_000,
  )
  const ada = new Visitor(fetch, token, second.url)
  const run = await until(
    () => stateOf(ada, id),
    ({ status }) => status !== "running",
    60_000,
  )
  expect(run).toMatchObject({ status: "completed", toolHistory: [{ name: "hang", status: "ok" }] })
})

/** A connection with an unfinished request: it counts as work and delays the end. */
async function halfARequest(url: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1")
  await once(socket, "connect")
  socket.write("GET /readyz HTTP/1.1\r\nHost: localhost\r\n")
  return socket
}

const refused = (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  )

test("SIGTERM drains: no new connection is accepted, readyz reports it, and a second SIGTERM stops at once", async () => {
  await using provider = await callsOnce("hang")
  await using server = await start({ ...settings(provider), ...waitsForNothing })
  const [finishing, hanging] = [await halfARequest(server.url), await halfARequest(server.url)]
  await fetch(`${server.url}/healthz`) // what was sent before has been read by now
  server.child.kill("SIGTERM")
  await until(() => refused(`${server.url}/healthz`), Boolean, 60_000)
  finishing.write("Connection: close\r\n\r\n")
  let text = ""
  for await (const chunk of finishing) text += String(chunk)
  expect(text).toMatch(/^HTTP\/1.1 503 [\s\S]*"code":"draining"/)
  expect(server.child.exitCode).toBe(null)
  expect((await server.kill("SIGTERM")).code).toBe(143)
  hanging.destroy()
})
