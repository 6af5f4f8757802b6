import { expect, test } from "vitest"
import { TurnedClock } from "../../engine/turned-clock.fixture.ts"
import type { McpServerId, UserId } from "../../protocol/ids.ts"
import type { StoredMcpServer } from "../../engine/mcp.ts"
import { ServerList } from "./server-list.ts"

const ada = "user_ada" as UserId
const target = { url: "https://mcp.example/mcp", headers: {}, isPublic: false }
const stored = (name: string): StoredMcpServer => ({
  ...{ id: `mcp_${name}` as McpServerId, name, agents: ["test"], target, version: name },
})

/** A store whose answers are held until they are released. */
function slowStore() {
  const there: StoredMcpServer[] = []
  const held: (() => void)[] = []
  const later = <T>(answer: T) => new Promise<T>((resolve) => held.push(() => resolve(answer)))
  const people = { isAny: () => later(there.length > 0), list: () => later([...there]) }
  const letGo = () => held.splice(0).forEach((each) => each())
  return { there, people, letGo, held }
}

const namesIn = async (asked: ReturnType<ServerList["of"]>) => (await asked).map(({ name }) => name)

/** Releases everything until the answer arrives. */
async function answered(asked: ReturnType<ServerList["of"]>, letGo: () => void): Promise<string[]> {
  let isDone = false
  const names = namesIn(asked).finally(() => (isDone = true))
  for (; !isDone; await Promise.resolve()) letGo()
  return names
}

test.each([
  ["the first of all", []],
  ["one more", ["old"]],
])("a server that is added during a read of the list is in the next read: %s", async (_, before) => {
  const { there, people, letGo } = slowStore()
  const named = new ServerList([], people, new TurnedClock(0))
  there.push(...before.map(stored))
  const meanwhile = named.of(ada)
  if (before.length > 0) {
    letGo() // the store has answered that there are servers, and the list is being read
    await Promise.resolve()
    await Promise.resolve()
  }
  there.push(stored("new"))
  named.forget(ada)
  expect(await answered(meanwhile, letGo)).toEqual(before)
  expect(await answered(named.of(ada), letGo)).toEqual([...before, "new"])
})

test("a list is cached for a moment", async () => {
  const { there, people, letGo, held } = slowStore()
  const clock = new TurnedClock(0)
  const named = new ServerList([], people, clock)
  there.push(stored("old"))
  await answered(named.of(ada), letGo)
  there.push(stored("elsewhere"))
  expect(await namesIn(named.of(ada))).toEqual(["old"])
  expect(held).toEqual([])
  clock.turn(1000)
  expect(await answered(named.of(ada), letGo)).toEqual(["old", "elsewhere"])
})

test("a caller that needs the current list gets changes of another node, and so do later callers", async () => {
  const { there, people, letGo } = slowStore()
  const named = new ServerList([], people, new TurnedClock(0))
  there.push(stored("old"))
  await answered(named.of(ada), letGo)
  there.splice(0, 1, stored("elsewhere"))
  expect(await answered(named.now(ada), letGo)).toEqual(["elsewhere"])
  expect(await namesIn(named.of(ada))).toEqual(["elsewhere"])
})
