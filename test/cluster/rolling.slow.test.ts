import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { afterAll, beforeAll, describe, test } from "vitest"
import { createClient, type UnknownFrame } from "../../client/index.ts"
import { endsIn, readStored } from "./stored.ts"
import { shared } from "./links.ts"
import { openThreeNodes } from "./three-nodes.ts"
import { isLong } from "../support/sizes.ts"
import { transcriptOf } from "../support/server/stream.ts"

/** People of each kind. In the long run there are two, who talk without a pause, which takes much of the machine. */
const PEOPLE = isLong ? 2 : 1
const BREATH_MS = isLong ? 0 : 50
const REPLY = "One after the other is stopped and started anew, and whoever talks meanwhile notices nothing of it. 😀"
const DRAINS = { PAWL_DRAIN_SECONDS: "2" }

describe.each(shared)("three nodes on one $name that are restarted one after the other", { timeout: 600_000 }, () => {
  let cluster: Awaited<ReturnType<typeof openThreeNodes>>
  beforeAll(async () => {
    cluster = await openThreeNodes(REPLY, DRAINS)
  }, 300_000)
  afterAll(() => cluster[Symbol.asyncDispose]())

  /** Starts the rolling restart once for all tests: the first caller starts it, and the others share it. */
  let rolled: Promise<void> | undefined
  const roll = () =>
    (rolled ??= (async () => {
      for (const node of cluster.nodes) await node.restart()
    })())

  test.concurrent("show no error to a user of the client, and every stream is whole", async ({ expect }) => {
    const client = createClient({ baseUrl: cluster.url, token: cluster.token })
    let rolling = true
    const people = Array.from({ length: PEOPLE }, async () => {
      const { id } = await client.createConversation({ body: {} })
      const watched: UnknownFrame[] = []
      const leaving = new AbortController()
      const watching = (async () => {
        for await (const frame of client.events(id, { signal: leaving.signal })) watched.push(frame)
      })().catch((error: unknown) => {
        if (!leaving.signal.aborted) throw error
      })
      const said: string[] = []
      // Once more after the last of them is back.
      for (let last = false; !last;) {
        last = !rolling
        const text = `Word ${said.length}`
        said.push(text)
        const frames: UnknownFrame[] = []
        for await (const frame of client.run(id, text)) frames.push(frame)
        expect(frames.at(-1)).toMatchObject({ type: "done", data: { status: "completed" } })
        expect(transcriptOf(frames as never).shown.at(-1)).toBe(REPLY)
        const { messages } = await client.readConversation({ params: { id } })
        expect(messages).toHaveLength(2 * said.length)
        // Another key, so that requests without a repeat occur too.
        await client.createConversation({ body: {} })
        await pause(BREATH_MS)
      }
      await expect.poll(() => endsIn(watched)).toBe(said.length)
      leaving.abort()
      await watching
      const stored = await readStored(client, id, said.length)
      expect(transcriptOf(watched as never)).toEqual(transcriptOf(stored as never))
      return said.length
    })
    const talked = Promise.all(people)
    talked.catch(() => {}) // reported below, when the nodes are back
    await roll()
    rolling = false
    for (const turns of await talked) expect(turns).toBeGreaterThan(3)
  })

  test.concurrent("show none to a caller of HTTP that retries with the same key", async ({ expect }) => {
    const headers = { authorization: `Bearer ${cluster.token}`, "content-type": "application/json" }
    const post = (path: string, body: object, more: Record<string, string> = {}) =>
      fetch(`${cluster.url}${path}`, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) })

    /** Retries if no answer came, the server stops, or the message is stored and not answered yet; anything else is an error. */
    async function say(id: string, text: string) {
      const key = { "idempotency-key": randomUUID() }
      for (let tries = 0; tries < 100; tries++) {
        const answer = await post(`/api/conversations/${id}/messages`, { text }, key).catch(() => undefined)
        if (answer?.status === 200) return (await answer.json()) as { run: { status: string } }
        if (answer && ![202, 503].includes(answer.status)) throw new Error(`${answer.status}: ${await answer.text()}`)
        await answer?.text()
        await pause(200)
      }
      throw new Error("There is no answer.")
    }

    let rolling = true
    const people = Array.from({ length: PEOPLE }, async () => {
      const { id } = (await (await post("/api/conversations", {})).json()) as { id: string }
      let said = 0
      for (; rolling; said++) {
        expect(await say(id, `Word ${said}`)).toMatchObject({ run: { status: "completed" } })
        await pause(BREATH_MS)
      }
      const read = await fetch(`${cluster.url}/api/conversations/${id}`, { headers })
      const { messages } = (await read.json()) as { messages: { role: string; content: string }[] }
      const expected = Array.from({ length: said }, (_, at) => [`Word ${at}`, REPLY]).flat()
      expect(messages.map(({ content }) => content)).toEqual(expected)
      return said
    })
    const talked = Promise.all(people)
    talked.catch(() => {})
    await roll()
    rolling = false
    for (const turns of await talked) expect(turns).toBeGreaterThan(3)
  })
})
