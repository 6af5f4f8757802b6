import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import pg from "pg"
import { expect, onTestFinished, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { openChecked, repliesOf, resultsOf } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { write } from "../support/loop/tools.ts"
import { message, openWorld } from "../support/loop/world.ts"

const postgres = databases.find(({ name }) => name === "postgres")
/** A connection can be cut only where PostgreSQL is tested. */
const testOn = test.runIf(postgres)
const createDatabase = () => (postgres as (typeof databases)[number]).create()

/** `before`: the statement never reaches the database. `after`: it does, and its answer is lost. */
type When = "before" | "after"

/** A proxy between a node and its PostgreSQL that resets a connection in the middle of a chosen statement. */
class Wire implements AsyncDisposable {
  readonly #server = createServer({ noDelay: true }, (near) => this.#join(near))
  readonly #sockets = new Set<Socket>()
  readonly #target: URL
  /** A commit is named by its lease, then by the parts that it has. */
  #next: { readonly statement: string; readonly when: When } | undefined
  cuts = 0

  constructor(url: string) {
    this.#target = new URL(url)
  }

  /** The URL of the same database through this proxy. */
  async open(): Promise<string> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    const url = new URL(this.#target)
    url.hostname = "127.0.0.1"
    url.port = `${(this.#server.address() as AddressInfo).port}`
    return url.href
  }

  /** Cuts the connection that sends this prepared statement next. */
  cutAt(statement: string, when: When): void {
    this.#next = { statement, when }
  }

  #join(near: Socket): void {
    const far = connect(Number(this.#target.port || 5432), this.#target.hostname)
    for (const socket of [near, far]) {
      this.#sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        this.#sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    let deaf = false
    const cut = () => {
      this.cuts++
      near.resetAndDestroy()
    }
    near.on("data", (data) => {
      const next = this.#next
      if (next && data.includes(`\0${next.statement}-`)) {
        this.#next = undefined
        if (next.when === "before") return cut()
        deaf = true
      }
      far.write(data)
    })
    far.on("data", (data) => (deaf ? cut() : near.write(data)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, "close")
  }
}

/** Collects the errors that would end the process. */
function watchProcess(): unknown[] {
  const fatal: unknown[] = []
  const note = (error: unknown) => void fatal.push(error)
  process.on("uncaughtException", note)
  onTestFinished(() => void process.off("uncaughtException", note))
  return fatal
}

const soon = () => new Promise((resolve) => setImmediate(resolve))

testOn.each([
  { when: "before", replies: ["First.", "Third."] },
  { when: "after", replies: ["First.", "Second.", "Third."] },
] as const)(
  "a connection cut $when a message is committed ends nothing, and the conversation goes on",
  async ({ when, replies }) => {
    const fatal = watchProcess()
    await using database = await createDatabase()
    await using wire = new Wire(database.url)
    const model = scripted(...replies.map((text) => says(text)))
    await using world = await openChecked({ url: await wire.open(), model })
    const id = await world.begin("One.")
    wire.cutAt("claim", when)
    await expect(world.pawl.runtime.submit(id, message("Two."))).rejects.toMatchObject({ code: "store_unavailable" })
    expect(wire.cuts).toBe(1)
    await world.pawl.runtime.rest(id)
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    await world.send(id, "Three.")
    expect(await repliesOf(world, id)).toEqual(replies)
    await soon()
    expect(fatal).toEqual([])
  },
)

testOn.each(["before", "after"] as const)(
  "a connection cut %s the loop's own commit ends nothing, and the run comes to its end",
  async (when) => {
    const fatal = watchProcess()
    await using database = await createDatabase()
    await using wire = new Wire(database.url)
    // The reply is requested again if its commit was lost; if it was not, only the run's end is missing.
    const model = scripted(says("First."), says("Second."), says("Second."))
    await using world = await openWorld({ url: await wire.open(), model })
    const id = await world.begin("One.")
    wire.cutAt("change", when)
    await world.send(id, "Two.")
    expect(wire.cuts).toBe(1)
    expect(world.problems).toMatchObject([{ event: "loop_failed", error: { code: "store_unavailable" } }])
    expect((await world.load(id)).run?.status).toBe("completed")
    expect(await repliesOf(world, id)).toEqual(["First.", "Second."])
    await soon()
    expect(fatal).toEqual([])
  },
)

testOn(
  "a decision waits for another node's commit about the same proposal, and neither locks the other out",
  async () => {
    await using database = await createDatabase()
    const model = scripted(calls("save"), says("Done."))
    await using world = await openChecked({ url: database.url, model, tools: [write("save")] })
    const id = await world.begin("Save.")
    const proposalId = (await world.proposals(id))[0]!.proposed.id
    const other = new pg.Client(database.url)
    await other.connect()
    try {
      const { rows } = await other.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")
      // Another node's commit: the conversation first, and then its proposals.
      await other.query("BEGIN")
      await other.query("SELECT 1 FROM conversation WHERE id = $1 FOR UPDATE", [id])
      const decided = world.decide(id, proposalId, "commit")
      decided.catch(() => {}) // inspected below
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid))"
      while ((await world.store.engine.query(waiting, [rows[0]!.pid])).length === 0) await soon()
      await other.query("UPDATE proposal SET code = code WHERE id = $1", [proposalId])
      await other.query("COMMIT")
      await decided
    } finally {
      await other.end()
    }
    expect(await resultsOf(world, id)).toMatchObject([{ status: "ok" }])
  },
)
