import { expect, test } from "vitest"
import { composeServer } from "../../core/compose/compose-server.ts"
import { settingsIn } from "../../core/compose/settings.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { Face } from "../support/server/face.ts"

const [database] = databases
const settings = async () => ({
  ...settingsIn(dataFolder()),
  databaseUrl: (await database!.create()).url,
  durability: "normal" as const,
})

/** Child processes, and threads by their ports. */
const helpers = () => process.getActiveResourcesInfo().filter((kind) => /Process|MessagePort|Worker/.test(kind)).length

test("the test server has every agent of `pawl serve`, plus the tests' own", async () => {
  const face = await Face.open({ url: (await database!.create()).url, model: scripted() })
  await using _ = face
  await using served = await composeServer(await settings())
  const names = served.pawl.ports.agents.all.map(({ name }) => name)
  expect(names).toEqual(["workspace", "analyst", "research", "files"])
  expect(face.pawl.ports.agents.all.map(({ name }) => name)).toEqual([...names, "test"])
})

test("if a late step of the composition fails, the server closes the parts that it has opened and throws the error", async () => {
  let left: Store | undefined
  const broken = (store: Store) => {
    left = store
    throw new Error("no routes today")
  }
  await expect(composeServer(await settings(), { ports: broken })).rejects.toThrow("no routes today")
  await expect(left?.people.ensure("ada", 0)).rejects.toThrow()
})

test("closing the server does not close a part that the caller passed in", async () => {
  const given = await settings()
  await using store = await openStore({ url: given.databaseUrl, durability: "normal" })
  const server = await composeServer(given, { store })
  await server.close()
  expect((await store.people.ensure("ada", 0)).name).toBe("ada")
})

test("opening a server starts neither a process nor a thread, and closing it twice works", async () => {
  const before = helpers()
  const server = await composeServer(await settings())
  expect(helpers()).toBe(before)
  await Promise.all([server.close(), server.close()])
})
