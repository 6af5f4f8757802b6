import { describe, expect, test } from "vitest"
import { calls, says, scripted } from "../../core/testing.ts"
import { traceIdOf } from "../../core/telemetry/span.ts"
import { databases } from "../support/databases.ts"
import { read, write } from "../support/loop/tools.ts"
import { OtlpReceiver, treeOf } from "./otlp-receiver.ts"
import { ask, decide, openExporting, runOf } from "./exporting-server.ts"

describe.each(databases.filter(({ name }) => name === "postgres"))("two nodes on one $name", ({ create }) => {
  test("a run that one node started and another ended is one trace, without duplicate spans", async () => {
    await using database = await create()
    await using receiver = await OtlpReceiver.open()
    const tools = [read("look"), write("save")]
    const shared = { tools, receiver: receiver.url, databaseUrl: database.url }
    await using one = await openExporting({ ...shared, model: scripted(calls("look"), calls("save")) })
    await using two = await openExporting({ ...shared, model: scripted(says("Done.")) })
    const id = await ask(one, "Save it.")
    const run = await runOf(one, id)
    await decide(two, id, "commit")
    await Promise.all([one.close(), two.close()])

    const { spans } = receiver
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(run)]))
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(treeOf(spans.filter(({ name }) => name !== "store commit"))).toEqual([
      "invoke_agent test",
      "  step",
      "    chat scripted",
      "    execute_tool look",
      "  step",
      "    chat scripted",
      "    wait proposal",
      "    execute_tool save",
      "  step",
      "    chat scripted",
    ])
  })
})
