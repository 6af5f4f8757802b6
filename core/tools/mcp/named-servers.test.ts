import { expect, test } from "vitest"
import { TurnedClock } from "../../engine/turned-clock.fixture.ts"
import type { McpServerId, UserId } from "../../protocol/ids.ts"
import type { StoredMcpServer } from "../../engine/mcp.ts"
import { NamedServers } from "./named-servers.ts"

const ada = "user_ada" as UserId
const target = { url: "https://mcp.example/mcp", headers: {}, isPublic: false }
const stored = (name: string): StoredMcpServer => ({
  ...{ id: `mcp_${name}` as McpServerId, name, agents: ["test"], target, version: name },
})

/** A store that tells what it has when it is asked, as late as somebody lets it. */
function slowStore() {
  const there: StoredMcpServer[] = []
  const held: (() => void)[] = []
  const later = <T>(answer: T) => new Promise<T>((resolve) => held.push(() => resolve(answer)))
  const people = { isAny: () => later(there.length > 0), list: () => later([...there]) }
  const letGo = () => held.splice(0).forEach((each) => each())
  return { there, people, letGo, held }
}

const namesIn = async (asked: ReturnType<NamedServers["of"]>) => (await asked).map(({ name }) => name)

/** Lets all go that is asked for, until the answer is there. */
async function answered(asked: ReturnType<NamedServers["of"]>, letGo: () => void): Promise<string[]> {
  let isDone = false
  const names = namesIn(asked).finally(() => (isDone = true))
  for (; !isDone; await Promise.resolve()) letGo()
  return names
}

test.each([
  ["the first of all", []],
  ["one more", ["old"]],
])("a server that is added while the list is read is there when it is read again: %s", async (_, before) => {
  const { there, people, letGo } = slowStore()
  const named = new NamedServers([], people, new TurnedClock(0))
  there.push(...before.map(stored))
  const meanwhile = named.of(ada)
  if (before.length > 0) {
    letGo() // that there are any is known, and the list has been read, but has not come yet
    await Promise.resolve()
    await Promise.resolve()
  }
  there.push(stored("new"))
  named.forget(ada)
  expect(await answered(meanwhile, letGo)).toEqual(before)
  expect(await answered(named.of(ada), letGo)).toEqual([...before, "new"])
})

test("what was read counts for a moment", async () => {
  const { there, people, letGo, held } = slowStore()
  const clock = new TurnedClock(0)
  const named = new NamedServers([], people, clock)
  there.push(stored("old"))
  await answered(named.of(ada), letGo)
  there.push(stored("elsewhere"))
  expect(await namesIn(named.of(ada))).toEqual(["old"])
  expect(held).toEqual([])
  clock.turn(1000)
  expect(await answered(named.of(ada), letGo)).toEqual(["old", "elsewhere"])
})

test("whoever asks how it is now gets what another node has changed, and so do those who ask next", async () => {
  const { there, people, letGo } = slowStore()
  const named = new NamedServers([], people, new TurnedClock(0))
  there.push(stored("old"))
  await answered(named.of(ada), letGo)
  there.splice(0, 1, stored("elsewhere"))
  expect(await answered(named.now(ada), letGo)).toEqual(["elsewhere"])
  expect(await namesIn(named.of(ada))).toEqual(["elsewhere"])
})
