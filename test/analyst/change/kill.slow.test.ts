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

/** A clock that runs twenty times as fast, so that a node failure is noticed soon. */
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

describe.each(databases)("a change whose server is killed, on $name", { timeout: 180_000 }, ({ name, create }) => {
  /**
   * Tests both kinds on SQLite and only PostgreSQL on PostgreSQL: recording a change does not depend on its database.
   */
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

      test("is applied once if the server dies before or after recording its end, or after COMMIT", async () => {
        // With PostgreSQL on either side the seed selects usually one of them; long runs test all.
        const all = ["before-record", "after-record", "after-commit"] as const
        const moments = name === "sqlite" && kind === "sqlite" ? all : oneIn(3, all)
        const ends = await Promise.all(moments.map((moment) => die(moment)))
        expect(ends).toEqual(moments.map(() => ({ status: "applied", towns: ONCE })))
      })

      // The following tests depend on the changed database, not on where the change is stored.
      const isAboutTarget = isLong || name === "sqlite"

      test.runIf(isAboutTarget)(
        "is in doubt or known, but never applied twice, if others have written to its file since",
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
        "is applied once or not at all, and reported as such, if the answer to the write is lost",
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
          // PostgreSQL commits once it has received COMMIT; a killed SQLite process may have committed or not.
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

/** The child process of this one that writes to SQLite files. */
function killWriter(): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? []
      if (Number(parent) !== process.pid) continue
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sqlite-change-child"))
        process.kill(Number(pid), "SIGKILL")
    } catch {
      // already deleted
    }
  }
}

/** A connection to a server that breaks once, after it forwards a COMMIT and before it returns the answer. */
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
