import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { openDevice } from "../../client/device/index.ts"
import { MAX_FRAME_BYTES, type ToolCall } from "../../core/protocol/socket.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"

/** Records the frames that a device has sent. */
function watchedSocket() {
  const sent: string[] = []
  class Watched extends WebSocket {
    override send(text: string): void {
      sent.push(text)
      super.send(text)
    }
  }
  const results = () => sent.filter((text) => text.includes('"tool_result"'))
  return { Watched, results }
}

describe.each(anyDatabase)("a large workspace on a device, with a server on $name", (database) => {
  const open = async (...script: readonly ScriptedReply[]) => {
    const server = await openServer({ database, model: scripted(...script) })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const db = join(dataFolder(), "device.db")
    const { Watched, results } = watchedSocket()
    const ready = Promise.withResolvers<void>()
    const device = openDevice({
      ...{ server: server.url, token, db, embedsNotes: false, WebSocket: Watched },
      onState: ({ state }) => state === "connected" && ready.resolve(),
    })
    await ready.promise
    const id = await ada.begin({ site: "device" })
    /** Writes rows as another program of the person does, all in one transaction. */
    const fill = (sql: string, rows: readonly (string | number | null)[][]) => {
      using file = new DatabaseSync(db)
      file.exec("BEGIN")
      const statement = file.prepare(sql)
      for (const row of rows) statement.run(...row)
      file.exec("COMMIT")
    }
    return {
      ...{ ada, device, results, id },
      tasks: (count: number, projectId: string | null = null) =>
        fill(
          `INSERT INTO tasks (id, projectId, title, description, status, priority, isAiSuggested, isApproved, createdAt)
           VALUES (?, ?, ?, ?, 'todo', 'low', 0, 1, ?)`,
          Array.from({ length: count }, (_, n) => [`t${n}`, projectId, `Task ${n}`, "about it ".repeat(20), n]),
        ),
      notes: (count: number, length: number) =>
        fill(
          `INSERT INTO notes (id, title, content, createdAt, updatedAt) VALUES (?, ?, ?, 1, 1)`,
          Array.from({ length: count }, (_, n) => [`n${n}`, `Note ${n}`, "x".repeat(length)]),
        ),
      toolResults: async (): Promise<string[]> => {
        const { messages } = (await ada.get(`/api/conversations/${id}`)).body
        const results = messages.filter(({ role }: { role: string }) => role === "tool")
        return results.map(({ content }: { content: string }) => content)
      },
      async [Symbol.asyncDispose]() {
        await device.close()
        await server[Symbol.asyncDispose]()
      },
    }
  }

  test("60 notes of 20 kB are listed by their titles, in one frame without their text", async () => {
    await using world = await open(calls("list_notes"), says("There."))
    world.notes(60, 20_000)
    await world.ada.say(world.id, "notes")
    const [listed] = await world.toolResults()
    expect(listed).toMatch(/^Found 60 note\(s\):\n- Note 0 /)
    expect(listed).toContain("- Note 59 ")
    expect(world.results().map((text) => text.length < 20_000)).toEqual([true])
  })

  test("8,000 tasks are listed, found by name and changed, and no frame exceeds the limit", async () => {
    await using world = await open(
      calls("list_tasks"),
      calls("update_task", { task_id: "Task 777", status: "done" }),
      says("Done."),
    )
    world.tasks(8000)
    const { proposals } = (await world.ada.say(world.id, "tasks")).body
    const [listed] = await world.toolResults()
    expect(listed).toMatch(/^Found 8000 task\(s\):\n- Task 0 /)
    expect(listed).toContain("There are 7900 more.")
    expect(proposals[0].summary).toBe('Update task "Task 777": status todo → done') // below it is the row t777
    expect((await world.ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    expect(world.device.tables.get("tasks", "t777")).toMatchObject({ status: "done" })
    expect(world.results().every((text) => Buffer.byteLength(text) < MAX_FRAME_BYTES)).toBe(true)
  })

  test("the rows below a project are counted over several pages, and exceed what one undo can hold", async () => {
    await using world = await open(calls("delete_project", { project_id: "House" }), says("No."))
    const project = world.device.tables.insert("projects", { name: "House" })
    world.tasks(8000, String(project.id))
    await world.ada.say(world.id, "delete it")
    const [refused] = await world.toolResults()
    expect(refused).toContain("too many dependent rows for one undo (8000 task(s))")
    expect(world.device.tables.select("tasks")).toHaveLength(8000)
  })

  test("an older device whose list is too large says so, and a narrower one is requested", async () => {
    const script = [calls("list_tasks"), calls("list_tasks", { status: "done" }), says("There.")]
    await using server = await openServer({ database, model: scripted(...script) })
    const ada = await server.visitor("ada")
    const machine = new Machine()
    const asked: ToolCall[] = []
    const tooMuch = "The answer would have 2000000 bytes and 1047552 can be sent; ask for less at once."
    using _old = await connect(machine, {
      ...{ url: server.url, token: await server.tokenFor("ada"), deviceId: "old" },
      deals: (call) => {
        asked.push(call)
        return call.filters?.status === "done" ? { rows: [] } : { error: tooMuch }
      },
    })
    const id = await ada.begin({ deviceId: "old" })
    const { messages } = (await ada.say(id, "tasks")).body
    const [first, second] = messages.filter(({ role }: { role: string }) => role === "tool")
    expect([first.content, second.content]).toEqual([
      expect.stringContaining("ask for less at once"),
      expect.stringContaining("No tasks found with status done"),
    ])
    expect(asked.map(({ type: _, id: __, conversationId: ___, ...call }) => call)).toEqual([
      { action: "select", table: "tasks", filters: {}, limit: 101 },
      { action: "select", table: "tasks", filters: { status: "done" }, limit: 101 },
    ])
  })
})
