import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { isReal } from "../support/files/commands.ts"
import { of } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":")

/** A third-party server from npm, which can read this folder and change nothing in it. */
const program = (name: string) => ({
  command: process.execPath,
  args: [join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)],
  folder: root,
  sandbox: isReal,
})

describe.each(anyDatabase)("third-party programs, in a sandbox if there is one, on $name", ({ create }) => {
  test("are used through the gate: everything, memory and sequential-thinking", async () => {
    await using place = await create()
    const dataFolder = mkdtempSync(join(tmpdir(), "pawl-mcp-"))
    // In the sandbox that is a folder of its own; without one, the shared folder.
    const memory = join(isReal ? "/tmp" : dataFolder, "memory.json")
    const named = servers({
      everything: { ...program("everything"), data: "public", tools: { "*": "read" } },
      memory: { ...program("memory"), env: { MEMORY_FILE_PATH: memory } },
      thinking: { ...program("sequential-thinking"), data: "public", tools: { "*": "read" } },
    })
    const thought = { thought: "One.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }
    const entity = { name: "Ada", entityType: "person", observations: ["counts"] }
    const model = scripted(
      calls("everything__echo", { message: "hello" }),
      calls("everything__get_sum", { a: 2, b: 40 }),
      calls("everything__get_tiny_image", {}),
      calls("everything__trigger_long_running_operation", { duration: 2, steps: 20 }),
      calls("everything__simulate_research_query", { topic: "bees" }), // which is a task
      calls("thinking__sequentialthinking", thought),
      calls("memory__create_entities", { entities: [entity] }),
      says("Done."),
    )
    await using world = await openMcpWorld(named, { url: place.url, model, dataFolder, path })
    const { id } = await world.start("Use them all.", { maxIterations: 20 })
    // A step may be read together with its result, when the client no longer listens: on a busy machine that happens to
    // a few steps, and so there are many.
    const progress = world.seen(id, (live) => live.type === "tool_progress" && live.done !== undefined)
    await world.pawl.runtime.rest(id)
    expect(await progress).toMatchObject({ total: 20 })
    const shown = model.received[0]!.request.tools.map(({ name }) => name)
    expect(shown).toEqual(
      expect.arrayContaining(["everything__echo", "memory__read_graph", "thinking__sequentialthinking"]),
    )
    const [open] = await world.proposals(id)
    expect(open?.proposed.tool).toBe("memory__create_entities")
    await world.decide(id, open!.proposed.id, "commit")
    const ends = of(await world.events(id), "tool_end").map(({ status, text }) => `${status}: ${text}`)
    expect(ends).toEqual([
      expect.stringMatching(/^ok: Echo: hello/),
      expect.stringMatching(/^ok: .*42/),
      expect.stringMatching(
        /^ok: .*\[An image kept as "get-tiny-image-2.png" \(image\/png, \d+ bytes, \d+ × \d+ pixels\)/s,
      ),
      expect.stringMatching(/^ok: Long running operation completed/),
      expect.stringMatching(/^ok: # Research Report: bees/),
      expect.stringMatching(/^ok: .*thoughtNumber/s),
      expect.stringMatching(/^ok: .*Ada/s),
    ])
    rmSync(dataFolder, { recursive: true, force: true })
  })
})
