import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineAgent } from "../src/agent/agent.ts"
import { answer, defineTool } from "../src/agent/tool.ts"
import { openPawl } from "../src/main.ts"
import { scripted } from "../src/models/scripted.ts"
import { calls, says } from "../src/models/script.ts"
import { newId } from "../src/protocol/ids.ts"
import { databases } from "./databases.ts"

describe.each(databases)("on $name", ({ create }) => {
  test("a turn with a read and a confirmed write", async () => {
    await using database = await create()
    const notes: string[] = []
    const read = defineTool({ name: "list_notes", description: "Lists.", input: z.object({}), effect: "read", afterCrash: "run-again", run: () => answer(`notes: ${notes}`) })
    const write = defineTool({ name: "add_note", description: "Adds.", input: z.object({ text: z.string() }), effect: "write", afterCrash: "in-doubt", inverse: false, run: ({ text }) => (notes.push(text), answer("added")) })
    const model = scripted(calls("list_notes", {}), calls("add_note", { text: "hi" }), says("Done."))
    await using pawl = await openPawl({ store: { url: database.url }, agents: [defineAgent({ name: "a", description: "", instructions: "x", tools: [read, write] })], models: model, log: { warn: console.warn, error: console.error } })
    const person = await pawl.store.people.ensure("ada", Date.now())
    const c = await pawl.runtime.begin({ user: person.id, agent: "a" }, { type: "message", id: newId("msg"), text: "add hi", when: "queue" })
    await pawl.runtime.rest(c.id)
    const paused = await pawl.ports.journal.load(c.id, true)
    expect([...paused.proposals.values()].map((p) => p.status)).toEqual(["pending"])
    expect(notes).toEqual([])
    const [proposalId] = paused.proposals.keys()
    await pawl.runtime.submit(c.id, { type: "decide", proposalId: proposalId!, decision: "commit", by: person.id })
    await pawl.runtime.rest(c.id)
    expect(notes).toEqual(["hi"])
    const events = await pawl.ports.journal.read(c.id)
    console.log(events.map((e) => JSON.stringify(e)).join("\n"))
    console.log(await pawl.store.engine.query("select * from messages order by seq", []), await pawl.store.engine.query("select * from runs", []), await pawl.store.engine.query("select * from proposals", []), await pawl.store.engine.query("select * from conversation", []))
    expect(events.map((e) => e.type)).toEqual(["conversation_started", "run_started", "message", "message", "tool_start", "tool_end", "message", "awaiting_confirmation", "decision", "tool_start", "tool_end", "message", "run_ended"])
  })
})
