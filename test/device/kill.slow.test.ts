import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { ScriptedSocketServer, type ServerSide } from "./scripted-socket-server.ts"
import { lifeNamed } from "../support/processes/package.ts"

const script = lifeNamed("device-life")

const deaths = [
  { when: "before", commit: 1 },
  { when: "after", commit: 1 },
  { when: "before", commit: 2 },
  { when: "after", commit: 2 },
] as const

/** Sends a call to a device that is killed while it carries it out, and passes the connection to its next process. */
async function killedAt({ when, commit }: (typeof deaths)[number], call: { id: string; type: string }) {
  const server = await ScriptedSocketServer.open()
  const db = join(dataFolder(), "device.db")
  {
    await using first = new PawlProcess([server.url, db, when, String(commit)], {}, { script })
    const side = await server.next()
    await side.registers()
    side.say(call)
    await first.ended
    expect(first.child.signalCode).toBe("SIGKILL")
    expect(side.heard.map(({ type }) => type)).toEqual(["hello"])
  }
  const second = new PawlProcess([server.url, db], {}, { script })
  const side: ServerSide = await server.next()
  await side.registers()
  const titles = () => {
    using file = new DatabaseSync(db, { readOnly: true })
    return file.prepare("SELECT title FROM tasks").all()
  }
  const stop = async () => {
    await second[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  }
  return { side, titles, [Symbol.asyncDispose]: stop }
}

describe.concurrent.each(deaths.slice(0, 2))("a device killed just $when the commit of a change", (death) => {
  const insert = { type: "tool_call", id: "c1", action: "insert", table: "tasks", data: { title: "Buy milk" } }

  test("has made it once when it gets the call again", async () => {
    await using life = await killedAt(death, insert)
    expect(life.titles()).toHaveLength(death.when === "after" ? 1 : 0)
    life.side.say(insert)
    const result = await life.side.hears("tool_result", "c1")
    expect(result).toMatchObject({ row: { title: "Buy milk" } })
    expect(life.titles()).toHaveLength(1)
  })

  test("reports truly whether it was made, before a retry", async () => {
    await using life = await killedAt(death, insert)
    const made = death.when === "after"
    life.side.say({ type: "tool_status", id: "c1" })
    expect(await life.side.hears("tool_status")).toMatchObject(
      made ? { status: "applied", row: { title: "Buy milk" } } : { status: "unknown" },
    )
    expect(life.titles()).toHaveLength(made ? 1 : 0)
    life.side.say(insert)
    expect(await life.side.hears("tool_result", "c1")).toMatchObject({ row: { title: "Buy milk" } })
    expect(life.titles()).toHaveLength(1)
  })
})

describe.concurrent.each(deaths)("a device killed just $when commit $commit of a tool", (death) => {
  test("runs it at most once, and reports nothing if it cannot know", async () => {
    const file = join(dataFolder(), "touched")
    const touch = { type: "tool_call", id: "c1", action: "touch", data: { file } }
    await using life = await killedAt(death, touch)
    const before = existsSync(file)
    life.side.say({ type: "tool_status", id: "c1" })
    life.side.say(touch)
    // Answers are sent a moment after their frame was read; the second pong comes after all of them.
    for (const pongs of [1, 2]) {
      life.side.say({ type: "ping" })
      await life.side.hears("pong", undefined, pongs)
    }
    const [, ...said] = life.side.heard.map(({ type, status, error }) => status ?? (error ? "refused" : type))
    const place = `${death.when} ${death.commit}`
    const expected: Record<string, string[]> = {
      "before 1": ["unknown", "tool_result"],
      "after 1": [],
      "before 2": [],
      "after 2": ["applied", "tool_result"],
    }
    expect(said.filter((word) => word !== "pong")).toEqual(expected[place])
    // The next process carries out a call that the killed one had not started. None does if the outcome is unknown.
    expect(before).toBe(death.commit === 2)
    expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe(place === "after 1" ? "" : "x")
  })
})
