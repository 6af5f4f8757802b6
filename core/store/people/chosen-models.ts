import type { UserId } from "../../protocol/ids.ts"
import type { ClientKind } from "../../protocol/account/sign-in.ts"
import type { Engine } from "../engine/engine.ts"

/** The column of each client's last choice. Programs share the default, because no person chooses there. */
const COLUMNS: Readonly<Record<ClientKind, "page_model" | "terminal_model" | "chosen_model">> = {
  page: "page_model",
  terminal: "terminal_model",
  program: "chosen_model",
}

/** The model that each person chose last in each client, and their default for all clients. */
export class SqlChosenModels {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The last choice in this client, else the default; null if the person has neither. */
  async read(user: UserId, client: ClientKind): Promise<string | null> {
    const sql = `SELECT COALESCE(${COLUMNS[client]}, chosen_model) AS model FROM person WHERE id = ?`
    const [row] = await this.#engine.query<{ model: string | null }>(sql, [user])
    return row?.model ?? null
  }

  async remember(user: UserId, client: ClientKind, model: string): Promise<void> {
    await this.#change(`UPDATE person SET ${COLUMNS[client]} = ? WHERE id = ?`, [model, user])
  }

  /** Sets the default, or removes it with null. It replaces what was chosen in each client before. */
  async setDefault(user: UserId, model: string | null): Promise<void> {
    const sql = "UPDATE person SET chosen_model = ?, page_model = NULL, terminal_model = NULL WHERE id = ?"
    await this.#change(sql, [model, user])
  }

  async #change(sql: string, values: (string | null)[]): Promise<void> {
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }
}
