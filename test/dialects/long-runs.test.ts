import { expect, test, vi } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import type { Journal } from "../../core/engine/journal.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { openAiAs } from "./openai-client.ts"
import { Face } from "../support/server/face.ts"

const look = defineTool({
  ...{ name: "look", description: "Looks.", effect: "read" as const, afterCrash: "run-again" as const },
  input: z.object({ at: z.number() }),
  run: async ({ at }: { at: number }) => answer(`${at} ${"x".repeat(40_000)}`),
})
const weather = { name: "get_weather", description: "The weather.", parameters: { type: "object", properties: {} } }

test("every adapter reads a long run page by page, never whole", async () => {
  await using place = await anyDatabase[0]!.create()
  const steps = Array.from({ length: 8 }, (_, at) => calls("look", { at }))
  const model = scripted(...steps, calls("client-get_weather", {}), says("It rains."))
  await using face = await Face.open({ url: place.url, model, tools: [look] })
  const ada = await openAiAs(face, "ada")
  const native = await face.as("ada")
  const asked = { model: "pawl/test", input: "How is it?", tools: [{ type: "function", ...weather }] }
  const first = await ada.client.responses.create(asked)
  const { conversation_id: id } = first.pawl
  const call = first.output.find(({ type }: { type: string }) => type === "function_call")

  const read = vi.spyOn(face.pawl.ports.journal as Journal, "read")
  expect((await ada.client.responses.retrieve(first.id)).output).toEqual(first.output)
  const resumed = await native.get(`/ai-sdk/${id}/stream`)
  const opened = await native.post("/ag-ui/test/connect", { threadId: id, runId: "r1", messages: [] })
  for (const { text } of [resumed, opened]) for (let at = 0; at < 8; at++) expect(text).toContain(`${at} xxxx`)
  expect(resumed.text).toContain('"tool-calls"')
  expect(opened.text).toContain("pendingToolCallIds")
  const output = { type: "function_call_output", call_id: call.call_id, output: "rain" }
  const last = await ada.client.responses.create({ ...asked, input: [output], previous_response_id: first.id })
  expect(last.output_text).toBe("It rains.")
  expect((await ada.client.responses.retrieve(first.id)).output).toEqual(first.output)

  const whole = read.mock.settledResults.flatMap(({ value }) => ((value as unknown[]).length > 1 ? [value] : []))
  expect(whole).toEqual([])
})
