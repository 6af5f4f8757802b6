import { setTimeout as pause } from "node:timers/promises"
import { describe, test } from "vitest"
import { createClient, type UnknownFrame } from "../../client/index.ts"
import { chatChunk, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { Balancer } from "./balancer.ts"
import { DevicePerson } from "./device-person.ts"
import { linked } from "./links.ts"
import { LiveNode } from "./live-node.ts"
import { misfortunesOf } from "./misfortunes.ts"
import { endsIn, readStored } from "./stored.ts"
import { dice, numberIn } from "../support/sampling.ts"
import { NatsServer } from "../support/processes/nats-server.ts"
import { openOwnPostgres } from "../support/processes/own-postgres.ts"
import { dataFolder, pawl } from "../support/processes/pawl-process.ts"
import { isLong, seedOf, sizes } from "../support/sizes.ts"
import { transcriptOf } from "../support/server/stream.ts"

const PEOPLE = 4
const PEOPLE_WITH_DEVICES = 2
/** A write may turn out not to have been applied and is then requested again. This many failures in a row count as no progress. */
const WRITES_IN_VAIN = 20
const REPLY = "It is on your list now, 😀 and I have made sure that nobody else has written it down a second time."

/** Writes a task named after the message, once, and then streams a sentence. */
const answers = () =>
  ProviderServer.open(async (response, { body }) => {
    const messages = body.messages as { role: string; content: unknown }[]
    const last = messages.findLast(({ role }) => role === "user" || role === "tool")
    const stream = streamHead(response)
    if (last?.role === "user") {
      const title = /task-[\w-]+/.exec(JSON.stringify(last.content))?.[0]
      const call = { name: "create_task", arguments: JSON.stringify({ title }) }
      const calls = [{ index: 0, id: `c${Math.random()}`, type: "function", function: call }]
      stream.end(sse(chatChunk({ role: "assistant", tool_calls: calls }), chatChunk({}, "tool_calls"), "[DONE]"))
      return
    }
    for (const content of REPLY.match(/.{1,6}/gsu) ?? []) {
      stream.write(sse(chatChunk({ content })))
      await pause(15)
    }
    stream.end(sse(chatChunk({}, "stop"), "[DONE]"))
  })

/** This test is expensive: in the usual size it runs with NATS or without, depending on the seed. */
const links =
  isLong || numberIn("PAWL_CLUSTER_ROUNDS")
    ? linked
    : linked.filter((_, at) => at === seedOf("PAWL_CLUSTER_SEED") % linked.length)

describe.concurrent.each(links)("three nodes on one $name and $link", { timeout: 3_600_000 }, ({ link }) => {
  test("lose, duplicate and mix up nothing under any fault, and every client gets an answer", async ({ expect }) => {
    const seed = seedOf("PAWL_CLUSTER_SEED")
    const roll = dice(seed)
    const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(roll() * items.length)] as Item
    await using stack = new AsyncDisposableStack()
    const provider = stack.use(await answers())
    const postgres = stack.use(await openOwnPostgres("replicated"))
    const nats = link === "one NATS" ? stack.use(await NatsServer.start()) : undefined
    const balancer = stack.use(await Balancer.open())
    const environment = () => ({
      ...{ PAWL_DATA: dataFolder(), DATABASE_URL: postgres.url, MASTER_ENCRYPTION_KEY: "c".repeat(64) },
      ...{ LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen", PAWL_RUN_SECONDS: "600" },
      ...(nats ? { NATS_URL: nats.url } : {}),
    })
    const token = (await pawl(["token", "create", "--user", "ada"], environment())).stdout.trim()
    const nodes: LiveNode[] = []
    for (let count = 0; count < 3; count++) nodes.push(stack.use(await LiveNode.start(environment(), balancer)))

    const client = createClient({ baseUrl: balancer.url, token })
    const people = await Promise.all(
      Array.from({ length: PEOPLE }, async () => {
        const { id } = await client.createConversation({ body: { mode: "auto" } })
        const watched: UnknownFrame[] = []
        const leaving = new AbortController()
        const watching = (async () => {
          for await (const frame of client.events(id, { signal: leaving.signal })) watched.push(frame)
        })().catch(() => {})
        return { id, watched, leaving, watching, said: [] as string[] }
      }),
    )
    const isLongRun = sizes.clusterRounds > 10
    const doubts = () => oneOf(isLongRun ? (["retry", "abandon", "wait"] as const) : (["retry", "abandon"] as const))
    const devices: DevicePerson[] = []
    for (let count = 0; count < PEOPLE_WITH_DEVICES; count++)
      devices.push(stack.use(await DevicePerson.open({ baseUrl: balancer.url, token, doubts })))
    const misfortunes = misfortunesOf({ nodes, devices, postgres, nats, roll })
    for (let round = 0; round < sizes.clusterRounds; round++) {
      const befalls = oneOf(Object.keys(misfortunes))
      const what = `round ${round}, ${befalls} (PAWL_CLUSTER_SEED=${seed})`
      if (isLongRun) process.stderr.write(`${link}: ${what}\n`)
      const talking = people.map(async (person, at) => {
        const text = `Write down task-${round}-${at}`
        person.said.push(text)
        await pause(roll() * 500)
        const frames: UnknownFrame[] = []
        for await (const frame of client.run(person.id, text, { tries: 1000 })) frames.push(frame)
        expect(frames.at(-1), `${what}: ${person.id}`).toMatchObject({ type: "done", data: { status: "completed" } })
        expect(transcriptOf(frames as never).shown.at(-1), what).toBe(REPLY)
      })
      const writing = devices.map(async (person, at) => {
        await pause(roll() * 500)
        for (let tries = 0; (await person.write(`task-${round}-${at}-${tries}`)) !== "done"; tries++)
          expect(tries, `${what}: nothing is written to the device of ${person.id}`).toBeLessThan(WRITES_IN_VAIN)
      })
      await pause(roll() * 800)
      await Promise.all([misfortunes[befalls]?.(), ...talking, ...writing])
    }

    for (const { id, watched, said, leaving, watching } of people) {
      await expect.poll(() => endsIn(watched)).toBe(said.length)
      leaving.abort()
      await watching
      const stored = await readStored(client, id, said.length)
      // The events that were streamed live, through every fault, equal the stored events.
      expect(transcriptOf(watched as never)).toEqual(transcriptOf(stored as never))
      const words = transcriptOf(stored as never).rows.flatMap(({ type, data }) =>
        type === "message" && data.message.role === "user" ? [data.message.content as string] : [],
      )
      expect(words).toEqual(said)
    }
    const exported = (await client.exportWorkspace()) as { tasks: { title: string }[] }
    const titles = exported.tasks.map(({ title }) => title)
    const wanted = people.flatMap(({ said }) => said.map((text) => text.replace("Write down ", "")))
    expect(titles.toSorted()).toEqual(wanted.toSorted())

    for (const { titles, told, state, id } of devices) {
      expect(state, id).not.toBe("ended")
      for (const [title, outcome] of told) {
        const count = titles.filter((each) => each === title).length
        const wanted = { done: [1], "not done": [0], either: [0, 1] }[outcome]
        expect(wanted, `${title} of ${id} is ${outcome} (PAWL_CLUSTER_SEED=${seed})`).toContain(count)
      }
    }
  })
})
