import { readdirSync } from "node:fs"
import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool, openPawl, type PawlOptions } from "../../core/index.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { OtlpReceiver, treeOf } from "../telemetry/otlp-receiver.ts"

const save = defineTool({
  ...{ name: "save", description: "Saves.", input: z.object({ text: z.string() }), effect: "write" as const },
  preview: () => ({ summary: "Save", action: "safe_update" }),
  run: () => "Saved.",
})

test("a program exports its runs as traces, also one that is decided after a restart", async () => {
  await using receiver = await OtlpReceiver.open()
  const store = `${dataFolder()}/pawl.db`
  const traces = { endpoint: receiver.url, headers: { "x-key": "k" }, serviceName: "shop" }
  const agents = [{ name: "notes", tools: [save] }]
  const model = scripted(calls("save", { text: "secret words" }), says("Done."))
  const asks = async () => {
    await using pawl = await openPawl({ store, models: model, agents, traces })
    const asked = await pawl.ask("My question.")
    return asked.status === "waiting" ? asked.proposals[0]!.id : ""
  }
  const waits = await asks()
  const pawl = await openPawl({ store, models: model, agents, traces })
  const { conversationId } = await pawl.proposals.approve(waits)
  await pawl.answer(conversationId)
  await pawl.close()

  expect(receiver.requests[0]).toMatchObject({ path: "/v1/traces", headers: { "x-key": "k" } })
  expect(receiver.requests[0]?.traces.resource).toMatchObject({ "service.name": "shop" })
  expect(treeOf(receiver.spans.filter(({ name }) => name !== "store commit"))).toEqual([
    ...["invoke_agent notes", "  step", "    chat scripted", "    wait proposal", "    execute_tool save"],
    ...["  step", "    chat scripted"],
  ])
  expect(JSON.stringify(receiver.requests)).not.toContain("secret words")
})

test.each<[name: string, traces: object]>([
  ["endpoint", { endpoint: "ftp://127.0.0.1" }],
  ["protocol", { endpoint: "http://127.0.0.1:1", protocol: "grpc" }],
  ["headers", { endpoint: "http://127.0.0.1:1", headers: { "x-key": "a\nb" } }],
  ["share", { endpoint: "http://127.0.0.1:1", share: 2 }],
  ["sample", { endpoint: "http://127.0.0.1:1", sample: 1 }],
])("traces with an invalid %s are refused by name before the store opens", async (name, traces) => {
  const folder = dataFolder()
  const wrong = traces as PawlOptions["traces"] & object
  await expect(openPawl({ store: `${folder}/pawl.db`, models: scripted(), traces: wrong })).rejects.toThrow(name)
  expect(readdirSync(folder)).toEqual([])
})
