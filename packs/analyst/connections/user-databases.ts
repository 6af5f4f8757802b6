import {
  AppError,
  type Clock,
  type ConnectionId,
  type ConnectionPatch,
  type ConnectionTest,
  type ConnectionView,
  type CsvPreview,
  failure,
  type Log,
  monotonicOf,
  type NewConnection,
  type Page,
  type PageQuery,
  type QueryAnswer,
  type SchemaAnswer,
  type SchemaQuery,
  type StoredBytes,
  type StoredConnection,
  type Target,
  type UserId,
} from "../../../core/pack.ts"
import type { UploadedDatabases } from "../csv/files.ts"
import { type UploadedCsv, CsvUploads } from "../csv/uploads.ts"
import type { DatabaseKind, DatabaseUse } from "../database/kind.ts"
import type { DatabaseSchema } from "../database/schema.ts"
import { SAMPLE_NAME, SAMPLE_PATH } from "./sample-database.ts"
import { type NarrowedSchema, type Narrowing, toMarkdown } from "../markdown/schema-markdown.ts"
import { patchTarget } from "./patch-target.ts"

/** The store of connections. */
export interface ConnectionRecords {
  list(user: UserId, page: PageQuery): Promise<Page<StoredConnection>>
  find(user: UserId, id: ConnectionId): Promise<StoredConnection | undefined>
  /** Creates a connection with this id or a new one. If the store keeps its file, both in one transaction. */
  create(user: UserId, name: string, target: Target, given?: GivenRecord): Promise<ConnectionId>
  rename(user: UserId, id: ConnectionId, name: string): Promise<void>
  retarget(user: UserId, id: ConnectionId, target: Target): Promise<void>
  /** Deletes a connection, and the file at this path if the store has it. */
  remove(user: UserId, id: ConnectionId, path?: string): Promise<void>
}

interface GivenRecord {
  readonly id?: ConnectionId
  readonly stored?: StoredBytes | undefined
}

export type Kinds = { readonly [K in Target["kind"]]: DatabaseKind<Extract<Target, { kind: K }>> }

export interface DatabasePorts {
  readonly records: ConnectionRecords
  readonly kinds: Kinds
  readonly clock: Clock
  readonly files: UploadedDatabases
  readonly log?: Log | undefined
  /** Creates the sample database if it is missing. */
  makeSample(): Promise<void>
  /** The sample may have been created on another machine: then it is created here when it is first used. */
  readonly manyMachines: boolean
}

export interface ConnectionUse {
  readonly user: UserId
  readonly id: ConnectionId
  readonly signal: AbortSignal
  readonly timeZone?: string | undefined
}

export interface OpenDatabase {
  readonly name: string
  readonly kind: DatabaseKind
  readonly place: DatabaseUse<Target>
}

/** Schemas cached in memory. */
const REMEMBERED = 50

/** People's databases: stores, tests, reads and queries them. */
export class UserDatabases implements AsyncDisposable {
  readonly #records: ConnectionRecords
  readonly #kinds: Kinds
  readonly #clock: Clock
  readonly #files: UploadedDatabases
  readonly #uploads: CsvUploads
  readonly #makeSample: () => Promise<void>
  readonly #manyMachines: boolean
  /** By connection and version of its target, because a changed connection may lead to another database. */
  readonly #schemas = new Map<string, { readonly schema: DatabaseSchema; readonly readAt: number }>()

  constructor({ records, kinds, clock, files, log, makeSample, manyMachines }: DatabasePorts) {
    this.#records = records
    this.#files = files
    this.#uploads = new CsvUploads(files, { log })
    this.#kinds = kinds
    this.#clock = clock
    this.#makeSample = makeSample
    this.#manyMachines = manyMachines
  }

  async list(user: UserId, page: PageQuery): Promise<Page<ConnectionView>> {
    const { items, nextCursor } = await this.#records.list(user, page)
    return { items: items.map(toView), nextCursor }
  }

  async find(user: UserId, id: ConnectionId): Promise<ConnectionView> {
    return toView(await this.#find(user, id))
  }

  async create(user: UserId, { name, ...target }: NewConnection): Promise<ConnectionView> {
    await this.#kindOf(target).check(target, user)
    return this.find(user, await this.#records.create(user, name, target))
  }

  /** The person's connection to the sample database, created if they have none. */
  async sample(user: UserId): Promise<ConnectionView> {
    await this.#makeSample()
    const { items } = await this.list(user, { limit: 200 })
    const known = items.find(({ kind, path }) => kind === "sqlite" && path === SAMPLE_PATH)
    return known ?? this.create(user, { name: SAMPLE_NAME, kind: "sqlite", path: SAMPLE_PATH })
  }

  async change(user: UserId, id: ConnectionId, { name, ...patch }: ConnectionPatch): Promise<ConnectionView> {
    const { kind, target } = await this.#find(user, id)
    if (Object.keys(patch).length > 0) {
      const next = patchTarget(kind, target, patch)
      await this.#kindOf(next).check(next, user)
      await this.#records.retarget(user, id, next)
    }
    if (name !== undefined) await this.#records.rename(user, id, name)
    return this.find(user, id)
  }

  remove(user: UserId, id: ConnectionId): Promise<void> {
    return this.#files.remove({ user, id }, (path) => this.#records.remove(user, id, path))
  }

  previewCsv(upload: UploadedCsv): Promise<CsvPreview> {
    return this.#uploads.preview(upload)
  }

  async uploadCsv(upload: UploadedCsv): Promise<ConnectionView> {
    const { user, name } = upload
    const id = await this.#uploads.keep(upload, async ({ path, ...given }) => {
      await this.#records.create(user, name, { kind: "sqlite", path }, given)
    })
    return this.find(user, id)
  }

  eraseFiles(user: UserId): Promise<void> {
    return this.#files.removeAll(user)
  }

  /** Called when a server starts: reverts the unfinished work of ended processes. */
  sweep(): Promise<void> {
    return this.#files.sweep()
  }

  /** Called periodically: removes files from this machine that were deleted on another. */
  tidyFiles(): Promise<void> {
    return this.#files.tidy()
  }

  async test(request: ConnectionUse): Promise<ConnectionTest> {
    const stored = await this.#find(request.user, request.id)
    return this.#tell(() => this.#use(stored, request, (kind, place) => kind.probe(place)))
  }

  /** Tests a connection without storing it. */
  try(user: UserId, { name: _, ...target }: NewConnection, signal: AbortSignal): Promise<ConnectionTest> {
    return this.#tell(async () => {
      const kind = this.#kindOf(target)
      await kind.check(target, user)
      return kind.probe({ target, user, signal })
    })
  }

  /**
   * Returns a problem as the result, not as an error, because testing a connection that does not work yet is the
   * purpose.
   */
  async #tell(look: () => Promise<readonly string[]>): Promise<ConnectionTest> {
    const start = monotonicOf(this.#clock)
    const outcome = await look().then(
      (warnings) => ({ ok: true, code: null, problem: null, warnings: [...warnings] }),
      (error: unknown) => {
        if (!(error instanceof AppError)) throw error
        return { ok: false, code: error.code, problem: error.message, warnings: [] }
      },
    )
    return { ...outcome, ms: Math.round(monotonicOf(this.#clock) - start) }
  }

  /** `most`: the most characters, for a model with a small context. */
  async schema(request: ConnectionUse, query: SchemaQuery & Narrowing): Promise<SchemaAnswer> {
    const { names: _, ...answer } = await this.narrow(request, query)
    return answer
  }

  /** The schema, and the names of the tables that it includes. */
  async narrow(request: ConnectionUse, query: SchemaQuery & Narrowing): Promise<SchemaAnswer & NarrowedSchema> {
    const { refresh, ...narrowing } = query
    const stored = await this.#find(request.user, request.id)
    const key = `${stored.id} ${stored.version}`
    const known = refresh === "true" ? undefined : this.#schemas.get(key)
    const { schema, readAt } = known ?? {
      schema: await this.#use(stored, request, (kind, place) => kind.introspect(place)),
      readAt: this.#clock.now(),
    }
    this.#schemas.delete(key)
    this.#schemas.set(key, { schema, readAt })
    for (const oldest of this.#schemas.keys()) {
      if (this.#schemas.size <= REMEMBERED) break
      this.#schemas.delete(oldest)
    }
    return { ...toMarkdown(schema, narrowing), readAt: new Date(readAt).toISOString() }
  }

  async query(request: ConnectionUse, sql: string): Promise<QueryAnswer> {
    const stored = await this.#find(request.user, request.id)
    return this.#use(stored, request, (kind, place) => kind.query(place, sql))
  }

  /** The kind and target of one of the person's databases, for tools that do more than read. */
  async open(request: ConnectionUse): Promise<OpenDatabase> {
    const stored = await this.#find(request.user, request.id)
    return this.#use(stored, request, async (kind, place) => ({ name: stored.name, kind, place }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...Object.values(this.#kinds).map((kind) => kind.close()), this.#files.close()])
  }

  async #find(user: UserId, id: ConnectionId): Promise<StoredConnection> {
    const stored = await this.#records.find(user, id)
    if (!stored) throw failure("not_found")
    return stored
  }

  async #use<T>(
    { id, target }: StoredConnection,
    { user, signal, timeZone }: ConnectionUse,
    work: (kind: DatabaseKind, place: DatabaseUse<Target>) => Promise<T>,
  ): Promise<T> {
    if (!target) throw failure("secret_unreadable", { id })
    if (this.#manyMachines && target.kind === "sqlite" && target.path === SAMPLE_PATH) await this.#makeSample()
    return work(this.#kindOf(target), { target, user, signal, timeZone })
  }

  #kindOf(target: Target): DatabaseKind {
    return this.#kinds[target.kind] as DatabaseKind
  }
}

/** Copies field by field, so that a password cannot be included by accident. */
function toView({ id, name, kind, target, createdAt, updatedAt }: StoredConnection): ConnectionView {
  const writable = target?.writable ?? false
  const common = { id, name, kind, writable, configured: target !== undefined, createdAt, updatedAt }
  if (target?.kind === "sqlite") return { ...common, path: target.path }
  if (target?.kind !== "postgres") return common
  const { host, port, database, user, ssl } = target
  return { ...common, host, port, database, user, ssl }
}
