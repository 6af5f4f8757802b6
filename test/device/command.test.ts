import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { ScriptedSocketServer } from "./scripted-socket-server.ts"

vi.setConfig({ testTimeout: 120_000 })

describe("pawl device", () => {
  test("prints when it is connected, disconnected and closed, and never its token", async () => {
    await using server = await ScriptedSocketServer.open()
    const db = join(dataFolder(), "mine", "home.db")
    await using device = new PawlProcess(["device", "--server", server.url, "--db", db], { PAWL_TOKEN: "pat_secret" })
    const first = await server.next()
    const { deviceId } = await first.registers()
    await device.says(/connected to http/)
    first.say({ type: "tool_call", id: "c1", action: "insert", table: "tasks", data: { title: "Buy milk" } })
    expect(await first.hears("tool_result")).toMatchObject({ row: { title: "Buy milk" } })
    first.socket.terminate()
    await device.says(/disconnected: the connection broke; reconnecting/)
    const second = await server.next()
    await second.registers()
    await device.says(/reconnecting\nconnected to/)
    const { code, stdout, stderr } = await device.kill("SIGTERM")
    expect([code, stderr]).toEqual([0, ""])
    const connected = `connected to ${server.url} as ${deviceId}, workspace ${db}`
    expect(stdout.split("\n")).toEqual([
      connected,
      "disconnected: the connection broke; reconnecting",
      connected,
      "closed",
      "",
    ])
    expect(server.tokens).toEqual(["Bearer pat_secret", "Bearer pat_secret"])
    expect(readFileSync(db).includes("pat_secret")).toBe(false)
  })

  test("exits with a sentence if the server refuses the token", async () => {
    await using server = await ScriptedSocketServer.open()
    server.refuses = 401
    const db = join(dataFolder(), "home.db")
    const { code, stderr } = await pawl(["device", "--server", server.url, "--db", db, "--token", "pat_secret"])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^pawl: The server does not accept this token\. Create a new one/),
    ])
  })

  test.each([
    [{ type: "error", code: "device_taken", message: "Ask ada.", id: "x" }, "pawl: Ask ada.\n"],
    [{ type: "device_claim", deviceId: "x", status: "allowed" }, /^pawl: Its person has allowed another token/],
  ])("exits with what to do if %j says that another token is this device", async (frame, says) => {
    await using server = await ScriptedSocketServer.open()
    const db = join(dataFolder(), "home.db")
    const ended = pawl(["device", "--server", server.url, "--db", db, "--token", "pat_secret"])
    const line = await server.next()
    await line.hears("hello")
    line.say(frame)
    const { code, stderr } = await ended
    expect(code).toBe(1)
    expect(stderr).toEqual(typeof says === "string" ? says : expect.stringMatching(says))
  })

  test.each<[words: string[], environment: Record<string, string>, says: string]>([
    [[], {}, "PAWL_TOKEN"],
    [["--server", "nowhere"], { PAWL_TOKEN: "t" }, "--server must be an address"],
    [["extra"], { PAWL_TOKEN: "t" }, 'Unexpected argument "extra".'],
    [["--token", "two words"], {}, "PAWL_TOKEN has a value that is not allowed"],
  ])("%j with %j is refused: %s", async (words, environment, says) => {
    const { code, stderr } = await command(["device", ...words], { PAWL_DATA: dataFolder(), ...environment })
    expect(code).toBe(1)
    expect(stderr).toContain(says)
  })
})
