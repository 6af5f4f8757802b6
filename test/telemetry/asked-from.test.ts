import { expect, test } from "vitest"
import { says, scripted } from "../../core/testing.ts"
import { defaultScopes } from "../../core/protocol/account/sign-in.ts"
import { traceIdOf } from "../../core/telemetry/span.ts"
import { OtlpReceiver } from "./otlp-receiver.ts"
import { openExporting, runOf } from "./exporting-server.ts"

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
const SPAN = "00f067aa0ba902b7"

test("a run's trace links to the trace of its request, and its log lines name it; a malformed header is ignored", async () => {
  await using receiver = await OtlpReceiver.open()
  const lines: Record<string, unknown>[] = []
  const log = { info: note, warn: note, error: note }
  function note(event: string, fields: Record<string, unknown>) {
    lines.push({ event, ...fields })
  }
  const server = await openExporting({ model: scripted(says("One."), says("Two.")), receiver: receiver.url, log })
  const ada = await server.store.people.ensure("ada", Date.now())
  const { token } = await server.store.people.createToken(ada, [...defaultScopes], Date.now())
  const post = async (path: string, body: object, traceparent?: string) => {
    const headers = {
      ...{ host: "127.0.0.1", authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(traceparent ? { traceparent } : {}),
    }
    const response = await server.app.request(path, { method: "POST", headers, body: JSON.stringify(body) })
    expect(response.status).toBeLessThan(300)
    // oxlint-disable-next-line typescript/no-explicit-any -- foreign JSON
    return (await response.json()) as any
  }
  const { id } = await post("/api/conversations", { agent: "test" })
  const ask = async (text: string, traceparent: string) => {
    await post(`/api/conversations/${id}/messages`, { text }, traceparent)
    await server.runtime.rest(id)
    return runOf(server, id)
  }
  const linked = await ask("First.", `00-${TRACE}-${SPAN}-01`)
  const alone = await ask("Second.", `00-${"0".repeat(32)}-${SPAN}-01`)
  await server.close()

  const root = (run: typeof linked) =>
    receiver.spans.find(({ name, traceId }) => name === "invoke_agent test" && traceId === traceIdOf(run))
  expect(root(linked)?.links).toEqual([{ traceId: TRACE, spanId: SPAN }])
  expect(root(alone)?.links).toEqual([])
  const ended = lines.filter(({ event }) => event === "run_ended")
  expect(ended.map(({ trace_id }) => trace_id)).toEqual([traceIdOf(linked), traceIdOf(alone)])
})
