/**
 * A server that changes a user's database, as a process of its own, so that a test can kill it.
 *
 *   node test/support/lives/change-life.ts '{"url": …, "root": …, "connection": {…}, "sql": …, "die": "after-record"}'
 *
 * It proposes the statement, prints the proposal's id, approves it, and kills itself at the point that `die` names.
 */
import { OutboundPolicy } from "../../../core/models/network/outbound-policy.ts"
import { always, calls, says, scripted } from "../../../core/testing.ts"
import { Face } from "../server/face.ts"
import "./keep-compiled.ts"

export interface ChangeLife {
  readonly url: string
  readonly root: string
  /** A database to connect, or an upload to create one from. */
  readonly connection: object | { readonly csv: string }
  readonly sql: string
  readonly die: "before-record" | "after-record" | "after-commit"
}

const { url, root, connection, sql, die } = JSON.parse(process.argv[2] ?? "{}") as ChangeLife

const model = scripted(
  always(({ history }) =>
    history.at(-1)?.role === "user" ? calls("change_database", { sql, why: "x" }) : says("Ok."),
  ),
)
const face = await Face.open({ url, model, sqliteRoot: root, reach: new OutboundPolicy(["127.0.0.1"]) })
const dead = () => process.kill(process.pid, "SIGKILL")
const { attempts } = face.store
const record = attempts.record.bind(attempts)
Object.assign(attempts, {
  async record(...args: Parameters<typeof record>) {
    if (die === "before-record") dead()
    const moved = await record(...args)
    if (die === "after-record") dead()
    return moved
  },
})
const { databases } = face
const open = databases.open.bind(databases)
Object.assign(databases, {
  async open(...args: Parameters<typeof open>) {
    const opened = await open(...args)
    const apply: typeof opened.kind.apply = async (...given) => {
      const change = await opened.kind.apply(...given)
      if (die === "after-commit") dead()
      return change
    }
    return { ...opened, kind: { ...opened.kind, apply } }
  },
})

const ada = await face.as("ada")
const headers = { "content-type": "text/csv" }
const { body } =
  "csv" in connection
    ? await ada.ask("POST", "/api/connections/csv?name=x", { body: connection.csv, headers })
    : await ada.post("/api/connections", { name: "Shop", ...connection })
await ada.patch(`/api/connections/${body.id}`, { writable: true })
const chat = await ada.begin({ agent: "analyst", connectionId: body.id })
const { body: said } = await ada.say(chat, "Go.")
process.stdout.write(`${said.proposals[0].id}\n`)
await ada.post(`/api/agent/proposals/${said.proposals[0].id}/commit`, {})
process.stdout.write("it has outlived itself\n")
