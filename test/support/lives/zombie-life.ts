/**
 * A server process that can become a zombie: it reports when its reply is running, finishes the reply only on
 * request, and reports the result of every append.
 *
 *   node test/support/lives/zombie-life.ts '{"url": …, "role": "first" | "second"}'
 */
import { createInterface } from "node:readline"
import { codeOf } from "../../../core/protocol/errors.ts"
import type { Model, ReplyPart } from "../../../core/engine/model.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { openWorld } from "../loop/world.ts"
import "./keep-compiled.ts"

const { url, role } = JSON.parse(process.argv[2] ?? "{}") as { url: string; role: "first" | "second" }
const say = (line: string) => process.stdout.write(`${line}\n`)
const input = createInterface({ input: process.stdin })
const told = new Promise<void>((resolve) => input.on("line", () => resolve()))
input.on("close", () => process.exit(9))

const model: Model = {
  name: role,
  provider: "test",
  contextTokens: 100_000,
  async *stream(): AsyncGenerator<ReplyPart> {
    yield { type: "text", text: `The ${role} answers.` }
    if (role === "first") {
      say("streaming")
      await told
    }
    yield { type: "finish", finish: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
  },
}

async function reported(name: string, result: Promise<unknown>): Promise<unknown> {
  try {
    const done = await result
    if (name === "append") say("appended")
    return done
  } catch (error) {
    say(`refused ${name} ${codeOf(error)}`)
    throw error
  }
}

const world = await openWorld({
  url,
  model,
  durability: "full",
  leaseSeconds: 0.5,
  lookMs: 60_000, // reading the events of others would stop it before it tries to append
  between: (journal) =>
    new Proxy(journal, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown
        if (typeof value !== "function") return value
        return (...given: unknown[]) => {
          const result: unknown = value.apply(target, given)
          return result instanceof Promise ? reported(String(name), result) : result
        }
      },
    }),
})

if (role === "first") {
  const { id } = await world.start("Who answers?")
  say(`conversation ${id}`)
  await world.pawl.runtime.rest(id)
} else {
  const sql = "SELECT id FROM conversations WHERE status = 'running'"
  let left: { id: ConversationId }[]
  while ((left = await world.store.engine.query<{ id: ConversationId }>(sql, [])).length > 0) {
    await world.pawl.runtime.recover()
    for (const { id } of left) await world.pawl.runtime.rest(id)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
await world[Symbol.asyncDispose]()
say("finished")
process.exit(0)
