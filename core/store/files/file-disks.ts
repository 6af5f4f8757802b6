import { randomBytes } from "node:crypto"
import type { UserId } from "../../protocol/ids.ts"
import type { FileDisks } from "../../engine/stored-files.ts"
import type { Engine } from "../engine/engine.ts"

export class SqlFileDisks implements FileDisks {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async diskOf(user: UserId, path: string): Promise<string | undefined> {
    const sql = "SELECT disk FROM file_disk WHERE person = ? AND path = ?"
    return (await this.#engine.query<{ disk: string }>(sql, [user, path]))[0]?.disk
  }

  async claimDisk(user: UserId, path: string, disk: string): Promise<string> {
    const known = await this.diskOf(user, path)
    if (known !== undefined) return known
    const sql = `INSERT INTO file_disk (id, person, path, disk) VALUES (?, ?, ?, ?) ON CONFLICT (person, path) DO NOTHING`
    const values = [randomBytes(16).toString("hex"), user, path, disk]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    return (await this.diskOf(user, path)) ?? disk
  }
}
