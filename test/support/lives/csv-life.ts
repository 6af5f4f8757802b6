/**
 * A server that is killed while it imports or deletes a CSV file, as a process of its own.
 *
 *   node test/support/lives/csv-life.ts '{"url": …, "root": …, "die": "before-record"}'
 */
import { Face } from "../server/face.ts"
import { scripted } from "../../../core/testing.ts"
import "./keep-compiled.ts"

export interface CsvLife {
  readonly url: string
  readonly root: string
  readonly die: "before-record" | "after-record" | "after-delete"
}

const { url, root, die } = JSON.parse(process.argv[2] ?? "{}") as CsvLife
const face = await Face.open({ url, model: scripted(), sqliteRoot: root })
const { connections } = face.store
const dead = () => process.kill(process.pid, "SIGKILL")
const create = connections.create.bind(connections)
const remove = connections.remove.bind(connections)
Object.assign(connections, {
  async create(...args: Parameters<typeof create>) {
    if (die === "before-record") dead()
    const id = await create(...args)
    if (die === "after-record") dead()
    return id
  },
  async remove(...args: Parameters<typeof remove>) {
    await remove(...args)
    if (die === "after-delete") dead()
  },
})
const ada = await face.as("ada")
const headers = { "content-type": "text/csv" }
const { body } = await ada.ask("POST", "/api/connections/csv?name=x", { body: "a,b\n1,2\n", headers })
await ada.delete(`/api/connections/${body.id}`)
