import { open, stat } from "node:fs/promises"
import { join } from "node:path"
import {
  AppError,
  type ConnectionId,
  type CsvPreview,
  type CsvReading,
  failure,
  FairQueue,
  type Log,
  newId,
  type StoredBytes,
  type UserId,
} from "../../../core/pack.ts"
import { readInChild } from "./child-process.ts"
import { tableName } from "./columns.ts"
import type { UploadedDatabases } from "./files.ts"
import { type CsvLimits, csvLimits } from "./job.ts"

/** A CSV file that is being received. */
export interface UploadedCsv {
  readonly user: UserId
  readonly name: string
  readonly body: AsyncIterable<Uint8Array>
  /** The sender declared tabs as the delimiter. */
  readonly isTabSeparated: boolean
  /** Settings from the sender. */
  readonly options?: CsvReading
  readonly signal: AbortSignal
}

/** A database created from an upload, for a new connection with this id. */
export interface UploadedDatabase {
  readonly id: ConnectionId
  readonly path: string
  /** Its bytes, if the store has them. */
  readonly stored?: StoredBytes | undefined
}

/** Uploads that are received concurrently, and files that are read concurrently, which needs CPU time. */
const coming = {
  atOnce: 8,
  perPerson: 2,
  waiting: 3,
  tooMany: (most: number) => failure("too_many", { what: "queries of yours", most }),
}
const reading = {
  atOnce: 2,
  perPerson: 1,
  waiting: 3,
  tooMany: (most: number) => failure("too_many", { what: "queries of yours", most }),
}

export interface CsvOptions {
  readonly limits?: CsvLimits
  readonly log?: Log | undefined
}

/** Turns CSV files into private databases. */
export class CsvUploads {
  readonly #files: UploadedDatabases
  readonly #limits: CsvLimits
  readonly #coming = new FairQueue(coming)
  readonly #reading = new FairQueue(reading)

  readonly #log: Log | undefined

  constructor(files: UploadedDatabases, { limits = csvLimits, log }: CsvOptions = {}) {
    this.#files = files
    this.#limits = limits
    this.#log = log
  }

  /** Reads the file without storing it. */
  preview(upload: UploadedCsv): Promise<CsvPreview> {
    return this.#receive(upload, (file) => this.#read(upload, file, null))
  }

  /** Stores the file as a database. `record` creates its connection once the file is in place. */
  keep(upload: UploadedCsv, record: (made: UploadedDatabase) => Promise<void>): Promise<ConnectionId> {
    const { user } = upload
    return this.#receive(upload, async (file, folder) => {
      const made = join(folder, "made.db")
      await this.#read(upload, file, made)
      await this.#refuseFull(user, (await stat(made)).size)
      const id = newId("conn", user, Date.now())
      const path = this.#files.pathOf(id)
      await this.#files.place(folder, made, { user, id }, (stored) => record({ id, path, stored }))
      return id
    })
  }

  /**
   * Stores the file while counting its bytes, without a queue, so that no sender waits. The work starts when it is the
   * user's turn.
   */
  #receive<T>(upload: UploadedCsv, work: (file: string, folder: string) => Promise<T>): Promise<T> {
    const { user, signal } = upload
    return this.#coming.run(user, signal, () =>
      this.#files.work(async (folder) => {
        const file = join(folder, "sent.csv")
        await this.#refuseFull(user, 0)
        await this.#store(upload, file)
        return this.#reading.run(user, signal, () => work(file, folder))
      }),
    )
  }

  async #store({ body, signal }: UploadedCsv, file: string): Promise<void> {
    const handle = await open(file, "wx", 0o600)
    try {
      let size = 0
      for await (const chunk of body) {
        signal.throwIfAborted()
        size += chunk.length
        if (size > this.#limits.bytes) throw failure("file_too_large", { most: this.#limits.bytes })
        await handle.write(chunk)
      }
    } catch (error) {
      // A sender that disconnects is not an error of the server and does not belong into the log.
      if (error instanceof AppError || (error as { syscall?: string }).syscall) throw error
      throw failure("bad_request", { problem: "The request body ended too early. Send it again." })
    } finally {
      await handle.close()
    }
  }

  async #read(
    { name, isTabSeparated, options, signal }: UploadedCsv,
    file: string,
    to: string | null,
  ): Promise<CsvPreview> {
    const job = { file, to, table: tableName(name), isTabSeparated, options, limits: this.#limits }
    const outcome = await readInChild(job, signal, { log: this.#log })
    if (outcome.type === "refused") throw failure("csv_refused", { problem: outcome.problem })
    return outcome.preview
  }

  async #refuseFull(user: UserId, more: number): Promise<void> {
    const { keptBytes } = this.#limits
    if ((await this.#files.bytesOf(user)) + more >= keptBytes) throw failure("csv_full", { most: keptBytes })
  }
}
