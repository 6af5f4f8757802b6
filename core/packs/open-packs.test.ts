import { expect, test } from "vitest"
import { z } from "zod"
import { defineAgent } from "../engine/definition/agent.ts"
import { answer, defineTool } from "../engine/definition/tool.ts"
import { openPacks } from "./open-packs.ts"
import { definePack } from "./pack.ts"

const greet = defineTool<object>({
  name: "greet",
  description: "Says hello.",
  input: z.object({}),
  effect: "read",
  afterCrash: "run-again",
  run: () => answer("Hello."),
})

const agentOf = (name: string, ...tools: (typeof greet)[]) =>
  defineAgent({ name, description: name, instructions: name, tools })

/** Records its calls in `seen`. */
const packOf = (name: string, fault?: "open" | "close") =>
  definePack({
    name,
    open(seen: string[]) {
      if (fault === "open") throw new Error(`${name} cannot be opened`)
      seen.push(`open ${name}`)
      return {
        agents: [agentOf(name)],
        async close() {
          seen.push(`close ${name}`)
          if (fault === "close") throw new Error(`${name} cannot be closed`)
        },
      }
    },
  })

test("packs are opened in order and closed in reverse", async () => {
  const seen: string[] = []
  const packs = await openPacks([packOf("a"), packOf("b")], seen)
  expect(packs.agents.map(({ name }) => name)).toEqual(["a", "b"])
  await packs[Symbol.asyncDispose]()
  expect(seen).toEqual(["open a", "open b", "close b", "close a"])
})

test("if one cannot be opened, those before it are closed and its error is thrown", async () => {
  const seen: string[] = []
  const opening = openPacks([packOf("a"), packOf("b"), packOf("c", "open"), packOf("d")], seen)
  await expect(opening).rejects.toThrow("c cannot be opened")
  expect(seen).toEqual(["open a", "open b", "close b", "close a"])
})

test("one that cannot be closed does not stop the others from closing", async () => {
  const seen: string[] = []
  const packs = await openPacks([packOf("a"), packOf("b", "close")], seen)
  await expect(packs[Symbol.asyncDispose]()).rejects.toThrow("b cannot be closed")
  expect(seen).toEqual(["open a", "open b", "close b", "close a"])
})

test("other services of a pack can be read from it while it is open", async () => {
  const pack = definePack({ name: "a", open: () => ({ agents: [], lamp: "lit" }) })
  await using packs = await openPacks([pack], undefined)
  expect(packs.of(pack).lamp).toBe("lit")
  expect(() => packs.of(packOf("b"))).toThrow('The pack "b" is not open.')
})
