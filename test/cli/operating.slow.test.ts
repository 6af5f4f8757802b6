import { expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"

test("metrics are open to this machine, logs are JSON lines without secrets, and both follow their settings", async () => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_PORT: "0" }
  const token = await tokenFor(environment)
  await using server = new PawlProcess(["serve"], environment)
  const [, url] = await server.says(/listening on (\S+)/)
  const ada = new Visitor(fetch, token, url)
  await ada.say(await ada.begin(), "list my tasks")
  const metrics = await fetch(`${url}/metrics`)
  expect(metrics.status).toBe(200)
  const text = await metrics.text()
  expect(text).toContain('pawl_tool_calls_total{tool="list_tasks",status="ok"} 1')
  expect(text).toContain('pawl_model_calls_total{provider="offline",outcome="ok"} 2')
  for (const header of ["x-forwarded-for", "forwarded", "x-real-ip", "via"]) {
    expect((await fetch(`${url}/metrics`, { headers: { [header]: "127.0.0.1" } })).status).toBe(401)
  }
  const { stderr } = await server.kill("SIGTERM")
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(lines).toContainEqual(expect.objectContaining({ level: "info", event: "run_ended", status: "completed" }))
  expect(lines.filter(({ event }) => event === "request").map(({ route }) => route)).toEqual(
    expect.arrayContaining(["/api/conversations", "/api/conversations/{id}/messages"]),
  )
  expect(stderr).not.toContain(token)

  await using silent = new PawlProcess(["serve"], { ...environment, PAWL_LOG: "off" })
  const [, there] = await silent.says(/listening on (\S+)/)
  await new Visitor(fetch, token, there).get("/api/models")
  expect((await silent.kill("SIGTERM")).stderr).toBe("")
})
