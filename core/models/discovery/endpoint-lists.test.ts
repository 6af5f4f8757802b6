import type { ServerResponse } from "node:http"
import { expect, test } from "vitest"
import { TurnedClock } from "../../engine/turned-clock.fixture.ts"
import { openLists } from "../providers/server.fixture.ts"
import type { EndpointAccess } from "./json-client.ts"
import { EndpointLists } from "./endpoint-lists.ts"
import type { ModelListing } from "../providers/model-listing.ts"

const MINUTE = 60_000

const accessTo = (url: string, more: Partial<ModelListing> = {}): EndpointAccess => ({
  listing: { shape: "chat", base: `${url}/v1`, query: "", headers: {}, hasPrices: true, ...more },
  fetch: globalThis.fetch,
})

/** A list of an endpoint that answers like this, after one look at it. */
async function looked(
  answer: (response: ServerResponse) => unknown,
  more: Partial<ModelListing> = {},
  isPersonal = false,
) {
  await using server = await openLists(answer)
  const lists = new EndpointLists(new TurnedClock())
  await lists.look("a", () => ({ ...accessTo(server.url, more), isPersonal }))
  return {
    ...lists.stateOf("a"),
    ids: [...lists.modelsOf("a").keys()],
    told: [...lists.modelsOf("a").values()],
    server,
  }
}

const json =
  (...data: readonly unknown[]) =>
  (response: ServerResponse) =>
    response.end(JSON.stringify({ data }))

test("an endpoint is asked once for concurrent callers, and again when its answer is some minutes old", async () => {
  const clock = new TurnedClock()
  await using server = await openLists(json({ id: "m", context_length: 8192 }))
  const lists = new EndpointLists(clock)
  const look = (urgency?: "soon" | "again") => lists.look("a", () => accessTo(server.url), urgency)
  expect(lists.stateOf("a")).toMatchObject({ state: "unasked", answeredAt: null })
  const first = look()
  expect(lists.stateOf("a").state).toBe("asking")
  await Promise.all([first, look(), look("again")])
  expect(server.received).toHaveLength(1)
  expect(lists.stateOf("a")).toEqual({
    ...{ state: "answered", models: 1, leftOut: 0, answeredAt: new Date(clock.now()).toISOString(), problem: null },
  })
  await look("again") // it has just answered
  clock.turn(4 * MINUTE)
  await look()
  expect(server.received).toHaveLength(1)
  await look("again")
  expect(server.received).toHaveLength(2)
  clock.turn(MINUTE)
  await look("soon")
  expect(server.received).toHaveLength(3)
  clock.turn(6 * MINUTE)
  await look()
  expect(server.received).toHaveLength(4)
})

test("a failing endpoint keeps its list, reports the failure, and is asked again soon", async () => {
  const clock = new TurnedClock()
  let works = true
  await using server = await openLists((response) => {
    if (works) json({ id: "m" })(response)
    else response.writeHead(500).end("no")
  })
  const lists = new EndpointLists(clock)
  await lists.look("a", () => accessTo(server.url))
  const { answeredAt } = lists.stateOf("a")
  works = false
  clock.turn(6 * MINUTE)
  await lists.look("a", () => accessTo(server.url))
  expect(lists.stateOf("a")).toMatchObject({
    ...{ state: "failed", models: 1, answeredAt, problem: "it answered with status 500" },
  })
  expect([...lists.modelsOf("a").keys()]).toEqual(["m"])
  works = true
  clock.turn(MINUTE / 2)
  await lists.look("a", () => accessTo(server.url))
  expect(lists.stateOf("a")).toMatchObject({ state: "answered", problem: null })
})

test("a model that was unloaded keeps its window", async () => {
  const clock = new TurnedClock()
  let loaded: number | undefined = 4096
  await using server = await openLists((response) =>
    json({ id: "m", type: "llm", max_context_length: 40_960, loaded_context_length: loaded })(response),
  )
  const lists = new EndpointLists(clock)
  const window = async () => {
    clock.turn(6 * MINUTE)
    await lists.look("a", () => accessTo(server.url, { shape: "lmstudio" }))
    return lists.modelsOf("a").get("m")?.contextTokens
  }
  expect(await window()).toBe(4096)
  loaded = undefined
  expect(await window()).toBe(4096)
  loaded = 8192
  expect(await window()).toBe(8192)
})

test("a silent endpoint is given up after a time, and an aborted inquiry is not the caller's failure", async () => {
  const clock = new TurnedClock()
  await using server = await openLists((response) => response.write('{"data": ['))
  const lists = new EndpointLists(clock)
  const look = lists.look("a", () => accessTo(server.url))
  await expect.poll(() => server.received.length).toBe(1)
  clock.turn(8000)
  await look
  expect(lists.stateOf("a")).toMatchObject({ state: "failed", problem: "it did not answer in time" })
})

test.each([
  [false, "its list is longer than 2 MB"],
  [true, "its list is longer than 1 MB"],
])("a list without end is cut, a personal one (%s) sooner", async (isPersonal, problem) => {
  let written = 0
  const answer = (response: ServerResponse) => {
    const chunk = `${JSON.stringify({ id: "x".repeat(60) })},`.repeat(1000)
    response.write('{"data": [')
    const pump = () => {
      while (!response.destroyed && written < 64e6) {
        written += chunk.length
        if (!response.write(chunk)) return response.once("drain", pump)
      }
      return response
    }
    pump()
  }
  expect(await looked(answer, {}, isPersonal)).toMatchObject({ state: "failed", models: 0, problem })
  expect(written).toBeLessThan(16e6)
})

test("a thousand models of a long list are stored", async () => {
  const long = await looked(json(...Array.from({ length: 5000 }, (_, at) => ({ id: `m${at}` }))))
  expect(long).toMatchObject({ state: "answered", models: 1000, leftOut: 4000 })
})

test.each([
  ["no JSON", (response: ServerResponse) => response.end("<html>"), "what it answered is not JSON"],
  ["half of it", (response: ServerResponse) => response.end('{"data": ['), "what it answered is not JSON"],
  ["a million brackets", (response: ServerResponse) => response.end("[".repeat(1e6)), "what it answered is not JSON"],
  ["nothing", (response: ServerResponse) => response.end(), "what it answered is not JSON"],
  [
    "no list",
    (response: ServerResponse) => response.end('{"data": {"id": "m"}}'),
    "its answer is not a list of models",
  ],
  ["null", (response: ServerResponse) => response.end("null"), "its answer is not a list of models"],
  ["a refused key", (response: ServerResponse) => response.writeHead(401).end("sk-secret"), "it refused the key"],
  ["a closed door", (response: ServerResponse) => response.destroy(), "it could not be reached"],
])("%s is reported in our own sentence", async (_, answer, problem) => {
  expect(await looked(answer)).toMatchObject({ state: "failed", ids: [], problem })
})

test("a redirect is not followed, because it would get the key", async () => {
  await using other = await openLists(json({ id: "stolen" }))
  const found = await looked((response) => response.writeHead(302, { location: `${other.url}/v1/models` }).end(), {
    headers: { authorization: "Bearer k" },
  })
  expect(found).toMatchObject({ state: "failed", problem: "it could not be reached" })
  expect(other.received).toEqual([])
})

test("values of the wrong type are ignored, and names with hidden characters are refused", async () => {
  const priced = (id: string, pricing: unknown) => ({ id, pricing })
  const { ids, told, leftOut } = await looked(
    json(
      ...[
        "text",
        null,
        7,
        [],
        { id: 7 },
        { id: "" },
        { id: "two words" },
        { id: "new\nline" },
        { id: "x".repeat(201) },
      ],
      ...[{ id: "gpt\u200b-5" }, { id: "gpt\u202e5" }, { id: "\u{e0041}" }, { id: "\ud800" }],
      {
        id: "wrong",
        context_length: "8192",
        supported_parameters: "tools",
        architecture: 7,
        capabilities: [],
        pricing: [],
      },
      { id: "wrong", context_length: 4096 },
      ...[
        { id: "tiny", context_length: 10 },
        { id: "huge", context_length: 1e12 },
        { id: "half", context_length: 0.5 },
      ],
      { id: "__proto__", context_length: 4096 },
      priced("negative", { prompt: "-0.1", completion: "0.1" }),
      priced("below", { prompt: -0.000001, completion: 0 }),
      priced("infinite", { prompt: "1e99", completion: "0.1" }),
      priced("words", { prompt: "cheap", completion: "0.1" }),
      priced("blank", { prompt: "", completion: " " }),
      priced("nothing", { prompt: null, completion: false }),
      priced("half-cached", { prompt: "0.000001", completion: "0.000001", input_cache_write: "-1" }),
      priced("hex", { prompt: "0x0", completion: "0x0" }),
      priced("fine", { prompt: 0.000001, completion: "0.000002" }),
    ),
  )
  expect(leftOut).toBe(14)
  expect(ids).toEqual([
    ...["wrong", "tiny", "huge", "half", "__proto__"],
    ...["negative", "below", "infinite", "words", "blank", "nothing", "half-cached", "hex", "fine"],
  ])
  expect(told[0]).toEqual({ id: "wrong", contextTokens: undefined, can: {} })
  expect(told.filter(({ contextTokens }) => contextTokens !== undefined).map(({ id }) => id)).toEqual(["__proto__"])
  expect(told.flatMap(({ id, price }) => (price ? [[id, price]] : []))).toEqual([["fine", { input: 1, output: 2 }]])
})

test("the least recently used of very many endpoints are forgotten", async () => {
  await using server = await openLists(json(...Array.from({ length: 1000 }, (_, at) => ({ id: `m${at}` }))))
  const lists = new EndpointLists(new TurnedClock())
  const owned = (owner: string) => () => ({ ...accessTo(server.url), owner })
  for (let at = 0; at < 22; at++) await lists.look(`person-${at}`, owned(`person-${at}`))
  const sizes = Array.from({ length: 22 }, (_, at) => lists.modelsOf(`person-${at}`).size)
  expect(sizes.slice(0, 2)).toEqual([0, 0])
  expect(sizes.slice(3)).toEqual(Array.from({ length: 19 }, () => 1000))
})

test("the lists of one person are limited, and do not displace other people's", async () => {
  await using server = await openLists(json(...Array.from({ length: 900 }, (_, at) => ({ id: `m${at}` }))))
  const lists = new EndpointLists(new TurnedClock())
  await lists.look("shared", () => accessTo(server.url))
  await lists.look("adas", () => ({ ...accessTo(server.url), owner: "ada" }))
  for (let at = 0; at < 25; at++) await lists.look(`bobs-${at}`, () => ({ ...accessTo(server.url), owner: "bob" }))
  expect([lists.modelsOf("shared").size, lists.modelsOf("adas").size]).toEqual([900, 900])
  const sizes = Array.from({ length: 25 }, (_, at) => lists.modelsOf(`bobs-${at}`).size)
  expect(sizes).toEqual([...Array.from({ length: 23 }, () => 0), 900, 900])
})

test("four endpoints of a person are asked at a time, while other people's are asked, too", async () => {
  const held: ServerResponse[] = []
  await using slow = await openLists((response) => held.push(response))
  await using quick = await openLists(json({ id: "m" }))
  const lists = new EndpointLists(new TurnedClock())
  const bobs = Array.from({ length: 40 }, (_, at) =>
    lists.look(`bobs-${at}`, () => ({ ...accessTo(slow.url), owner: "bob" })),
  )
  await lists.look("adas", () => ({ ...accessTo(quick.url), owner: "ada" }))
  await lists.look("shared", () => accessTo(quick.url))
  expect([lists.stateOf("adas").state, lists.stateOf("shared").state]).toEqual(["answered", "answered"])
  await expect.poll(() => held.length).toBe(4)
  expect(lists.stateOf("bobs-39").state).toBe("asking")
  for (let at = 0; at < 40; at++) {
    await expect.poll(() => held.length).toBeGreaterThan(at)
    json({ id: "m" })(held[at]!)
  }
  await Promise.all(bobs)
  expect(lists.stateOf("bobs-39").state).toBe("answered")
})

test("after closing, no endpoint is asked", async () => {
  await using server = await openLists(() => {})
  const lists = new EndpointLists(new TurnedClock())
  const looks = Array.from({ length: 6 }, (_, at) =>
    lists.look(`${at}`, () => ({ ...accessTo(server.url), ...(at > 0 ? { owner: "bob" } : {}) })),
  )
  await expect.poll(() => server.received.length).toBe(5)
  lists[Symbol.dispose]()
  await Promise.all(looks)
  await lists.look("later", () => accessTo(server.url))
  expect(server.received).toHaveLength(5)
})
