import { readFileSync, unlinkSync, writeFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import type { Journal } from "../../core/engine/journal.ts"
import { describe, expect, test } from "vitest"
import type { Diff } from "../../core/protocol/proposals/proposal.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { CallContext, SiblingCall, Tool } from "../../core/engine/definition/tool.ts"
import type { DeviceCalls } from "../../core/engine/devices.ts"
import { createDeviceFilesAgent } from "../../packs/files/device-files.ts"
import { fileHandlers } from "../../packs/files/device-handlers.ts"
import { newId } from "../../core/protocol/ids.ts"
import { filesTools } from "../../packs/files/agent.ts"
import { UndoFolder } from "../../packs/files/folder/undo-bytes.ts"
import { openFolder } from "../../packs/files/folder/local-folder.ts"
import { noSandbox } from "../../packs/files/sandbox/sandbox.ts"
import { anyDatabase } from "../support/databases.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { outlive, openWorld, TurnedClock, type World } from "../support/loop/world.ts"

// Covers a defect by which only the first of several edits to one file in one reply was applied.

type Asked = readonly [tool: string, input: Record<string, unknown>]

const CART = "let a = 1\nlet b = 2\nlet c = 3\n"
const edit = (old_text: string, new_text: string, path = "cart.js"): Asked => [
  "edit_file",
  { path, old_text, new_text },
]

interface Place extends AsyncDisposable {
  readonly root: string
  readonly url: string
  readonly kept: UndoFolder
  text(path?: string): string
}

async function openPlace(): Promise<Place> {
  const database = await anyDatabase[0]!.create()
  const root = dataFolder()
  writeFileSync(join(root, "cart.js"), CART)
  return {
    root,
    url: database.url,
    kept: new UndoFolder(dataFolder()),
    text: (path = "cart.js") => readFileSync(join(root, path), "utf8"),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

/** One reply with all of these calls. */
async function ask({ root, url, kept }: Place, asked: readonly Asked[], more = {}): Promise<World> {
  const folder = openFolder(root)
  const tools = filesTools({ folder, undoBytes: kept, sandbox: noSandbox, environment: {} })
  const model = scripted(always(({ history }) => (history.at(-1)?.role === "user" ? calls(...asked) : says("Done."))))
  return openWorld({ url, model, tools, ...more })
}

const proposed = async (world: World, id: Parameters<World["proposals"]>[0]) =>
  (await world.proposals(id)).map((entry) => entry.proposed)

async function ends(world: World, id: Parameters<World["proposals"]>[0]) {
  const all = (await world.events(id)).flatMap((event) => (event.type === "tool_end" ? [event] : []))
  return all.toSorted((a, b) => a.seq - b.seq).map(({ status, text }) => ({ status, text }))
}

const statuses = async (world: World, id: Parameters<World["proposals"]>[0]) =>
  (await ends(world, id)).map(({ status }) => status)

const three = [edit("a = 1", "a = 10"), edit("b = 2", "b = 20"), edit("c = 3", "c = 30")]

describe("several edits of one file in one reply", () => {
  test("are shown on top of each other, and all apply", async () => {
    await using place = await openPlace()
    await using world = await ask(place, three)
    const id = await world.begin("Change all three.")
    const shown = (await proposed(world, id)).map(({ diff }) => diff as Diff)
    expect(shown.map(({ before }) => (before as { text: string }).text)).toEqual([
      CART,
      "let a = 10\nlet b = 2\nlet c = 3\n",
      "let a = 10\nlet b = 20\nlet c = 3\n",
    ])
    for (const { id: proposal } of await proposed(world, id)) await world.decide(id, proposal, "commit")
    expect(await statuses(world, id)).toEqual(["ok", "ok", "ok"])
    expect(place.text()).toBe("let a = 10\nlet b = 20\nlet c = 30\n")
  })

  test("all apply in auto mode", async () => {
    await using place = await openPlace()
    await using world = await ask(place, three)
    const id = await world.begin("Change all three.", { mode: "auto" })
    expect(await statuses(world, id)).toEqual(["ok", "ok", "ok"])
    expect(place.text()).toBe("let a = 10\nlet b = 20\nlet c = 30\n")
  })

  test("apply in whichever order they are approved, if none needs another", async () => {
    await using place = await openPlace()
    await using world = await ask(place, three)
    const id = await world.begin("Change all three.")
    const [a, b, c] = await proposed(world, id)
    for (const { id: proposal } of [c!, a!, b!]) await world.decide(id, proposal, "commit")
    expect(await statuses(world, id)).toEqual(["ok", "ok", "ok"])
    expect(place.text()).toBe("let a = 10\nlet b = 20\nlet c = 30\n")
  })

  test("if one is rejected, the others still apply", async () => {
    await using place = await openPlace()
    await using world = await ask(place, three)
    const id = await world.begin("Change all three.")
    const [a, b, c] = await proposed(world, id)
    await world.decide(id, a!.id, "commit")
    await world.decide(id, b!.id, "reject")
    await world.decide(id, c!.id, "commit")
    expect(await statuses(world, id)).toEqual(["ok", "rejected", "ok"])
    expect(place.text()).toBe("let a = 10\nlet b = 2\nlet c = 30\n")
  })

  test.each([
    ["an edit of text that only the rejected one adds", edit("b = 20", "b = 200")],
    ["an edit of the same line", edit("let b", "const b")],
    ["a replacement of the whole file", ["write_file", { path: "cart.js", content: "empty\n" }] as Asked],
    ["a deletion of the file", ["delete_file", { path: "cart.js" }] as Asked],
  ])("if one is rejected, %s fails and says so", async (_what, dependent) => {
    await using place = await openPlace()
    await using world = await ask(place, [edit("b = 2", "b = 20"), dependent, edit("c = 3", "c = 30")].slice(0, 2))
    const id = await world.begin("Change both.")
    const [a, b] = await proposed(world, id)
    await world.decide(id, a!.id, "reject")
    await world.decide(id, b!.id, "commit")
    const [, end] = await ends(world, id)
    expect(end?.status).toBe("error")
    expect(end?.text).toMatch(
      /^Not done: it builds on another change of cart\.js in the same reply, which was not made/,
    )
    expect(place.text()).toBe(CART)
  })

  test("a file that one call creates, the next can edit and the last can delete", async () => {
    await using place = await openPlace()
    const asked: Asked[] = [
      ["write_file", { path: "new/x.txt", content: "one\n" }],
      edit("one", "two", "new/x.txt"),
      ["write_file", { path: "new/x.txt", content: "three\n" }],
    ]
    await using world = await ask(place, asked)
    const id = await world.begin("Create it.", { mode: "auto" })
    expect(await ends(world, id)).toMatchObject([{ status: "ok" }, { status: "ok" }, { status: "ok" }])
    expect(place.text("new/x.txt")).toBe("three\n")
    await using other = await ask(place, [edit("three", "four", "./new/x.txt"), ["delete_file", { path: "new/x.txt" }]])
    const second = await other.begin("Delete it.", { mode: "auto" })
    expect(await ends(other, second)).toMatchObject([{ status: "ok" }, { status: "ok" }])
    expect(existsSync(join(place.root, "new/x.txt"))).toBe(false)
  })

  test("an edit that a person changes is shown again, and those after it apply to its result", async () => {
    await using place = await openPlace()
    await using world = await ask(place, three)
    const id = await world.begin("Change all three.")
    const [a, b, c] = await proposed(world, id)
    await world.decide(id, c!.id, "commit")
    const changed = { path: "cart.js", old_text: "a = 1", new_text: "a = 11" }
    await world.pawl.runtime.submit(id, { type: "edit", proposalId: a!.id, arguments: changed, by: world.user })
    await world.pawl.runtime.rest(id)
    const again = (await proposed(world, id)).find(({ callId }) => callId === a!.callId)
    await world.decide(id, b!.id, "commit")
    await world.decide(id, again!.id, "commit")
    expect(await statuses(world, id)).toEqual(["ok", "ok", "ok"])
    expect(place.text()).toBe("let a = 11\nlet b = 20\nlet c = 30\n")
  })
})

describe("another program's change of the file", () => {
  test.each([0, 1, 2])("after %i of three were applied, makes the rest stale", async (applied) => {
    await using place = await openPlace()
    await using world = await ask(place, three)
    const id = await world.begin("Change all three.")
    const all = await proposed(world, id)
    for (const { id: proposal } of all.slice(0, applied)) await world.decide(id, proposal, "commit")
    const theirs = `${place.text()}// mine\n`
    writeFileSync(join(place.root, "cart.js"), theirs)
    for (const { id: proposal } of all.slice(applied)) await world.decide(id, proposal, "commit")
    expect(place.text()).toBe(theirs)
    const failed = (await ends(world, id)).slice(applied)
    expect(failed).toHaveLength(3 - applied)
    for (const { status, text } of failed)
      expect([status, text]).toEqual(["error", expect.stringMatching(/has changed since/)])
  })

  test("deleting it between two of them makes the second stale", async () => {
    await using place = await openPlace()
    await using world = await ask(place, three.slice(0, 2))
    const id = await world.begin("Change both.")
    const [a, b] = await proposed(world, id)
    await world.decide(id, a!.id, "commit")
    unlinkSync(join(place.root, "cart.js"))
    await world.decide(id, b!.id, "commit")
    expect(await statuses(world, id)).toEqual(["ok", "error"])
    expect(existsSync(join(place.root, "cart.js"))).toBe(false)
  })
})

test("of two approvals of the same change the second is refused, and it is applied once", async () => {
  await using place = await openPlace()
  await using world = await ask(place, [edit("let a", "let x = 0; let a"), edit("b = 2", "b = 20")])
  const id = await world.begin("Change both.")
  const [a, b] = await proposed(world, id)
  const twice = await Promise.allSettled([a, a, b, b].map((one) => world.decide(id, one!.id, "commit")))
  expect(twice.filter(({ status }) => status === "fulfilled")).toHaveLength(2)
  expect(place.text()).toBe("let x = 0; let a = 1\nlet b = 20\nlet c = 3\n")
})

describe.each(["before", "after"] as const)("a crash %s a write of the journal", (when) => {
  test("applies each of them exactly once, at any write", async () => {
    for (let at = 2, died = true; died; at++) died = await crashAt(at, when)
  })
})

/** Whether there was such a write. */
async function crashAt(at: number, when: "before" | "after"): Promise<boolean> {
  await using place = await openPlace()
  const asked = [edit("let a", "let x = 0; let a"), edit("b = 2", "b = 20"), edit("c = 3", "c = 30")]
  const clock = new TurnedClock()
  let journal: { readonly dead: boolean } | undefined
  const between = (real: Journal) => (journal = dyingAt({ at, when }, real)) as Journal
  const id = await (async () => {
    await using world = await ask(place, asked, { clock, between })
    const { id } = await world.start("Change all.", { mode: "auto" })
    await world.pawl.runtime.rest(id).catch(() => undefined)
    return id
  })()
  await using world = await ask(place, asked, { clock })
  await outlive(world, clock)
  await world.pawl.runtime.rest(id)
  expect([at, place.text()]).toEqual([at, "let x = 0; let a = 1\nlet b = 20\nlet c = 30\n"])
  expect(await statuses(world, id)).toEqual(["ok", "ok", "ok"])
  return journal?.dead === true
}

test("over --server the device plans them on top of each other too", async () => {
  await using place = await openPlace()
  using folder = openFolder(place.root)
  const handlers = fileHandlers(
    filesTools({ folder, undoBytes: place.kept, sandbox: noSandbox, environment: { PATH: process.env.PATH ?? "" } }),
  )
  const call: DeviceCalls["call"] = async (_place, { action, data }, { signal = new AbortController().signal }) =>
    ({ row: await handlers[action]!(JSON.parse(JSON.stringify(data)), { signal }) }) as never
  const { tools } = createDeviceFilesAgent({ call } as unknown as DeviceCalls)
  const tool = tools.find("edit_file") as Extract<Tool, { effect: "write" }>
  const signal = new AbortController().signal
  const device = {
    site: "device",
    deviceId: "laptop",
    signal,
    callId: newId("call"),
    state: {},
  } as unknown as CallContext
  const [first, second, third] = three.map(([, input]) => input)
  const sibling = (input: unknown, state: SiblingCall["state"]) =>
    ({ tool: "edit_file", input, isBefore: true, state }) as SiblingCall
  const planned = { ...device, siblings: [sibling(first, "planned"), sibling(second, "planned")] }
  const shown = await tool.preview!(third, planned)
  expect((shown.diff?.before as { text: string }).text).toBe("let a = 10\nlet b = 20\nlet c = 3\n")
  await tool.run(first, { ...device, approved: await tool.preview!(first, device) })
  const agreed = { ...device, approved: shown, siblings: [sibling(first, "applied"), sibling(second, "over")] }
  expect((await tool.preview!(third, agreed)).revision).toBe(shown.revision)
  const late = await tool.preview!({ path: "cart.js", old_text: "b = 20", new_text: "b = 200" }, agreed)
  expect(late.unmet).toMatch(/^it builds on another change of cart\.js/)
  await tool.run(third, agreed)
  expect(place.text()).toBe("let a = 10\nlet b = 2\nlet c = 30\n")
})
