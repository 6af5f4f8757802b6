import { cp, mkdir, readFile, writeFile } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, normalize, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Client } from "../../../client/index.ts"
import type { JsonObject } from "../../../core/protocol/schema.ts"
import { tableNames } from "../../../core/protocol/workspace-tables.ts"
import type { EvalStart } from "../file/eval-file.ts"
import type { EvalPlace } from "./place.ts"

/** A case that cannot be run as it is written. */
export class CaseFault extends Error {
  override readonly name = "CaseFault"
}

const DATABASE_FILE = "evaluated.db"
/** How often the state of a document in progress is checked. */
const LOOK_MS = 100

/**
 * Prepares everything before the first message; paths of the case are relative to `base`. Returns the database of the
 * conversation.
 */
export async function startCase(
  start: EvalStart,
  place: EvalPlace,
  { base, signal }: { readonly base: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { client, folder } = place
  if (folder !== undefined) await fillFolder(start, folder, base)
  await fillWorkspace(client, start.workspace ?? {})
  const connection = await connect(start.database, place, base)
  const documents = Object.entries(start.documents ?? {}).map(([name, content]) => ({ name, content }))
  for (const path of start.documentFiles ?? []) documents.push(await fileOf(resolve(base, path)))
  if (documents.length > 0) await fillLibrary(client, documents, signal)
  return connection
}

async function fillFolder({ folder: from, files = {} }: EvalStart, folder: string, base: string): Promise<void> {
  if (from !== undefined)
    await cp(resolve(base, from), folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      throw new CaseFault(`start.folder: ${resolve(base, from)} cannot be copied (${error.code}).`)
    })
  for (const [path, text] of Object.entries(files)) {
    const file = inside(folder, path, "start.files")
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** Returns the path of a file in the case's folder. Refuses paths outside of it. */
export function inside(folder: string, path: string, field: string): string {
  const plain = normalize(path)
  if (isAbsolute(plain) || plain.split(/[\\/]/)[0] === "..")
    throw new CaseFault(`${field}: "${path}" leads out of the folder that is worked in.`)
  return join(folder, plain)
}

/** In the order of their references, so that a referenced row has its id first. */
async function fillWorkspace(client: Client, rows: NonNullable<EvalStart["workspace"]>): Promise<void> {
  const ids = new Map<string, string>()
  const order = [
    "clients",
    "projects",
    ...tableNames.filter((name) => name !== "clients" && name !== "projects"),
  ] as const
  for (const table of order) {
    for (const { id, ...row } of rows[table] ?? []) {
      const made = await client.createRow({ params: { table }, body: pointed(row, ids) })
      if (typeof id === "string") ids.set(id, made.id)
    }
  }
}

const pointed = (row: JsonObject, ids: ReadonlyMap<string, string>): JsonObject =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      column.endsWith("Id") && typeof value === "string" ? (ids.get(value) ?? value) : value,
    ]),
  )

async function connect(
  database: EvalStart["database"],
  { client, databases }: EvalPlace,
  base: string,
): Promise<string | undefined> {
  if (database === undefined) return undefined
  if (database === "sample") return (await client.sampleConnection()).id
  // In this person's own folder, where SQLite files are permitted.
  const own = join(databases, (await client.readIdentity()).user.id)
  const file = join(own, DATABASE_FILE)
  await mkdir(own, { recursive: true })
  if (database.file !== undefined)
    await cp(resolve(base, database.file), file).catch((error: NodeJS.ErrnoException) => {
      throw new CaseFault(`start.database.file: ${database.file} cannot be copied (${error.code}).`)
    })
  if (database.sql !== undefined) makeDatabase(file, database.sql)
  const body = { kind: "sqlite", name: "evaluated", path: DATABASE_FILE, writable: database.writable } as const
  return (await client.createConnection({ body })).id
}

function makeDatabase(file: string, sql: string): void {
  using database = new DatabaseSync(file)
  try {
    database.exec(sql)
  } catch (error) {
    throw new CaseFault(`start.database.sql: ${(error as Error).message}.`)
  }
}

interface NamedDocument {
  readonly name: string
  readonly content: string
  readonly encoding?: "base64"
}

async function fileOf(path: string): Promise<NamedDocument> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new CaseFault(`start.documentFiles: ${path} cannot be read (${error.code}).`)
  })
  return { name: basename(path), content: bytes.toString("base64"), encoding: "base64" }
}

/** Waits until all documents are indexed, also by meaning, because search results would otherwise depend on timing. */
async function fillLibrary(client: Client, documents: readonly NamedDocument[], signal: AbortSignal): Promise<void> {
  const { id } = await client.createCollection({ body: { name: "Library" } })
  for (const body of documents) {
    const { items } = await client.addDocument({ params: { id }, body })
    for (const { id: documentId } of items) await untilReady(client, { id, documentId }, signal)
  }
}

async function untilReady(
  client: Client,
  params: { id: string; documentId: string },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { status, reason, source } = await client.readDocument({ params })
    if (status === "ready") return
    if (status === "failed")
      throw new CaseFault(`start.documents: ${source} cannot be read: ${reason ?? "the reason is unknown"}.`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
