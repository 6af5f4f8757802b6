import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { type Clock, systemClock } from "../../../core/shared/time/clock.ts"
import { OutboundPolicy } from "../../../core/models/network/outbound-policy.ts"
import { openStore } from "../../../core/store/store.ts"
import { always, calls, says, scripted } from "../../../core/testing.ts"
import { type ChangeTarget, changeTargets, kinds } from "../change-targets.ts"
import { databases } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import type { ChangeLife } from "../../support/lives/change-life.ts"
import { killedChange } from "../../support/processes/killed-life.ts"
import { isLong, oneIn } from "../../support/sizes.ts"

const SQL = "UPDATE customer SET town = coalesce(town, '') || '+' WHERE id <= 2"
const TOWNS = "SELECT town FROM customer ORDER BY id"
const [BEFORE, ONCE] = [
  [["London"], [null], ["Bonn"]],
  [["London+"], ["+"], ["Bonn"]],
]
const reach = new OutboundPolicy(["127.0.0.1"])
const model = () =>
  scripted(
    always(({ history }) =>
      history.at(-1)?.role === "user" ? calls("change_database", { sql: SQL, why: "x" }) : says("Ok."),
    ),
  )

/** Whoever watches by this clock soon knows that a server has died: it runs twenty times as fast. */
const later: Clock = { ...systemClock, monotonic: () => performance.now() * 20 }

async function settled(face: Face, ada: Visitor, proposal: string) {
  const ended = ["applied", "failed", "in_doubt"]
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    await face.pawl.runtime.recover()
    const { body } = await ada.get(`/api/agent/proposals/${proposal}`)
    if (ended.includes(body.status)) return body
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error("nobody took it up")
}

describe.each(databases)("a change whose server dies, kept on $name", { timeout: 180_000 }, ({ name, create }) => {
  /** Both kinds beside SQLite, and beside PostgreSQL its own: how a change is recorded does not depend on what it changes. */
  describe.each(kinds.filter((kind) => isLong || name === "sqlite" || kind === "postgres"))(
    "in a %s database",
    (kind) => {
      const made = async () => {
        const root = mkdtempSync(join(tmpdir(), inject("testRun"), "kill-"))
        const { url } = await create()
        await using store = await openStore({ url })
        const { id } = await store.people.ensure("ada", Date.now())
        return { root, url, target: await changeTargets[kind](root, id) }
      }

      const die = async (moment: ChangeLife["die"], meanwhile?: (target: ChangeTarget) => Promise<unknown>) => {
        const { root, url, target } = await made()
        try {
          const proposal = await killedChange({ url, root, connection: target.connection, sql: SQL, die: moment })
          await meanwhile?.(target)
          await using face = await Face.open({ url, model: model(), sqliteRoot: root, reach, clock: later })
          const { status } = await settled(face, await face.as("ada"), proposal)
          return { status, towns: await target.rows(TOWNS) }
        } finally {
          await target.close()
        }
      }

      test("before or after its end was recorded, or after COMMIT, is done once, and the next one knows", async () => {
        // Where PostgreSQL is part of it, on either side, usually one of them, by the seed; in the long run all.
        const all = ["before-record", "after-record", "after-commit"] as const
        const moments = name === "sqlite" && kind === "sqlite" ? all : oneIn(3, all)
        const ends = await Promise.all(moments.map((moment) => die(moment)))
        expect(ends).toEqual(moments.map(() => ({ status: "applied", towns: ONCE })))
      })

      // What follows is about what is changed, not about where the change is recorded.
      const isAboutTarget = isLong || name === "sqlite"

      test.runIf(isAboutTarget)(
        "and whose file others have written to since is in doubt, or known all the same, but never done twice",
        async () => {
          const write = async (target: ChangeTarget) => {
            await target.rows("UPDATE customer SET name = 'Zoe' WHERE id = 3")
            await target.rows("UPDATE customer SET name = 'Yan' WHERE id = 3")
          }
          const status = kind === "postgres" ? "applied" : "in_doubt"
          const [done, lost] = await Promise.all([die("after-commit", write), die("after-record", write)])
          expect(done).toEqual({ status, towns: ONCE })
          expect(lost).toEqual({ status, towns: kind === "postgres" ? ONCE : BEFORE })
        },
      )

      test.runIf(isAboutTarget)(
        "in the moment of writing, of which the answer is lost, is done once or not at all, and told as that",
        async () => {
          const { root, url, target } = await made()
          await using face = await Face.open({ url, model: model(), sqliteRoot: root, reach })
          const ada = await face.as("ada")
          await using line = kind === "postgres" ? await LossyLine.open(target.connection) : undefined
          const connection = { ...target.connection, ...(line ? { port: line.port } : {}) }
          const { body } = await ada.post("/api/connections", { name: "Shop", ...connection, writable: true })
          const chat = await ada.begin({ agent: "analyst", connectionId: body.id })
          const { body: said } = await ada.say(chat, "Go.")
          const { attempts } = face.store
          const record = attempts.record.bind(attempts)
          Object.assign(attempts, {
            async record(...args: Parameters<typeof record>) {
              const moved = await record(...args)
              if (line) line.losing = true
              else setTimeout(killWriter, 1)
              return moved
            },
          })
          const { status } = (await ada.post(`/api/agent/proposals/${said.proposals[0].id}/commit`, {})).body
          const towns = await target.rows(TOWNS)
          // A server that was told to commit has; a process that was killed in the middle may have.
          if (kind === "postgres") expect({ status, towns }).toEqual({ status: "applied", towns: ONCE })
          else
            expect([JSON.stringify(["applied", ONCE]), JSON.stringify(["failed", BEFORE])]).toContain(
              JSON.stringify([status, towns]),
            )
          await target.close()
        },
      )
    },
  )
})

/** The process of this one that writes to SQLite files. */
function killWriter(): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? []
      if (Number(parent) !== process.pid) continue
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sqlite-change-child"))
        process.kill(Number(pid), "SIGKILL")
    } catch {
      // gone meanwhile
    }
  }
}

/** A way to a server that breaks once, after it has carried a COMMIT there and before it brings the answer back. */
class LossyLine implements AsyncDisposable {
  losing = false
  port = 0
  readonly #server = createServer((client) => this.#carry(client))
  readonly #to: { host: string; port: number }

  private constructor(to: { host: string; port: number }) {
    this.#to = to
  }

  static async open(to: object): Promise<LossyLine> {
    const line = new LossyLine(to as { host: string; port: number })
    line.#server.listen(0, "127.0.0.1")
    await once(line.#server, "listening")
    line.port = (line.#server.address() as { port: number }).port
    return line
  }

  #carry(client: Socket): void {
    const server = connect(this.#to.port, this.#to.host)
    let lost = false
    for (const socket of [client, server]) socket.on("error", () => {})
    client.on("data", (bytes) => {
      server.write(bytes)
      if (!this.losing || !bytes.includes("COMMIT")) return
      this.losing = false
      lost = true
      server.once("data", () => client.destroy())
    })
    server.on("data", (bytes) => void (lost || client.write(bytes)))
    client.on("close", () => server.destroy())
    server.on("close", () => client.destroy())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
  }
}
