import { createReadStream } from "node:fs"
import { readFile, readdir, realpath, stat } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import { openConfiguredStore } from "../../../core/compose/open-store.ts"
import { createEmbedder, noEmbedder, type OpenedEmbedder } from "../../../core/models/embedders/create.ts"
import { proxiedFetch } from "../../../core/models/network/proxied-fetch.ts"
import { scrubSecrets } from "../../../core/models/providers/errors/scrub-secrets.ts"
import { AppError, failure, hasCode } from "../../../core/protocol/errors.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import type { Clock } from "../../../core/shared/time/clock.ts"
import { SqlLibrary } from "../../../core/store/library/library.ts"
import { PassageIndexer } from "../../../core/store/library/passage-indexer.ts"
import { kindOfName } from "../../../packs/research/document-kind.ts"
import { type CollectionUse, type Ingested, Librarian, MAX_FILE_BYTES } from "../../../packs/research/librarian.ts"
import { ingestText } from "../../strings/data.ts"
import { CommandError, UsageError, onStop, readFlags, userName } from "../process/command.ts"
import { Progress } from "../process/progress.ts"
import { readConfig } from "../settings/config.ts"
import { reportData, warn } from "../settings/warn.ts"

export const help = ingestText.help

const flags = { collection: { type: "string" }, user: { type: "string" } } as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  if (positionals.length === 0) throw new UsageError(ingestText.missingPath)
  const config = readConfig()
  warn(config)
  reportData(config)
  const files = (await Promise.all(positionals.map(filesOf))).flat()
  if (files.length === 0) throw new CommandError(ingestText.noDocuments)
  const signal = onStop()
  const progress = new Progress((text) => scrubSecrets(text, config.secrets))
  await using store = await openConfiguredStore(config)
  const outward = config.proxy ? { fetch: proxiedFetch(config.proxy) } : {}
  const { sharedKeys, localEmbedder: local } = config
  const embedder = createEmbedder(config.models, { sharedKeys, local, ...outward }) ?? noEmbedder
  const library = new SqlLibrary(store.engine, { clock: store.clock, embedder: embedder.name })
  const librarian = new Librarian(library, embedder)
  const { id: user } = await store.people.ensure(values.user ?? userName(), store.clock.now())
  const name = values.collection ?? ingestText.defaultCollection
  const collection: CollectionUse = { user, collection: await library.ensureCollection(user, name), signal }
  const counts = { added: 0, replaced: 0, unchanged: 0, failed: 0 }
  try {
    for await (const one of ingestAll(librarian, collection, shown(files, progress))) {
      counts[one.became]++
      if (one.again) counts.unchanged--
      if (one.became === "failed") progress.report(ingestText.failedFile(one.source, one.reason))
      else if (one.became !== "unchanged") progress.line(ingestText.file(one.became, one.source, one.reason))
    }
    await embedAll(library, { embedder, progress, signal, clock: store.clock })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    progress.end()
    await librarian.close()
    await embedder.close?.()
  }
  process.stdout.write(ingestText.summary(name, counts))
  if (signal.aborted) process.stdout.write(ingestText.stopped)
  return counts.failed > 0 || signal.aborted ? 1 : 0
}

function* shown(files: readonly string[], progress: Progress): Generator<string> {
  for (const [index, file] of files.entries()) {
    progress.show(ingestText.reading, index, files.length, file)
    yield file
  }
}

interface FileReport extends Pick<Ingested, "source" | "became" | "reason"> {
  readonly id?: Ingested["id"]
  /** Reported before as unchanged. */
  readonly again?: boolean
}

/** Reports a problem of one file and continues; a problem of the library is thrown. */
async function* ingestFile(librarian: Librarian, collection: CollectionUse, file: string): AsyncGenerator<FileReport> {
  const typed = typedName(file)
  collection.signal.throwIfAborted()
  try {
    const { size } = await stat(file)
    const name = await realName(file)
    // Read line by line: the arXiv dump has several gigabytes.
    if (kindOfName(file) === "arxiv") return yield* librarian.ingestLines(collection, linesIn(file), typed)
    if (size > MAX_FILE_BYTES)
      return yield { source: typed, became: "failed", reason: ingestText.tooLarge(MAX_FILE_BYTES / 1024 / 1024) }
    yield* librarian.ingestEach(collection, { name, bytes: await readFile(file), formerly: typed })
  } catch (error) {
    const reason = fileTrouble(error)
    if (reason === undefined) throw error
    yield { source: typed, became: "failed", reason }
  }
}

/**
 * Ingests each file once. A file with the content of a document is that document. If a later file replaces that
 * document, the first is ingested again, because its content would be lost otherwise.
 */
async function* ingestAll(
  librarian: Librarian,
  collection: CollectionUse,
  files: Iterable<string>,
): AsyncGenerator<FileReport> {
  const sameAs = new Map<string, string>()
  const again: string[] = []
  for (const file of files) {
    for await (const one of ingestFile(librarian, collection, file)) {
      if (one.id !== undefined && one.became === "unchanged") sameAs.set(one.id, file)
      const left = one.id !== undefined && one.became === "replaced" ? sameAs.get(one.id) : undefined
      if (left !== undefined) again.push(left)
      yield one
    }
  }
  for (const file of again)
    for await (const one of ingestFile(librarian, collection, file))
      if (one.became !== "unchanged") yield { ...one, again: true }
}

function fileTrouble(error: unknown): string | undefined {
  if (hasCode(error, "document_too_large")) return (error as AppError).message
  const { syscall } = error as NodeJS.ErrnoException
  return ["open", "read", "stat", "scandir", "realpath"].includes(syscall ?? "")
    ? ingestText.unreadable(failureReason(error))
    : undefined
}

interface Embedding {
  readonly embedder: OpenedEmbedder
  readonly progress: Progress
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Runs until nothing waits. If the embedder does not respond, the server continues later. */
async function embedAll(library: SqlLibrary, { embedder, progress, signal, clock }: Embedding): Promise<void> {
  const log = {
    info() {},
    error() {},
    warn: (_: string, { error }: Record<string, unknown>) => progress.report(toWords(error)),
  }
  const indexer = new PassageIndexer({ library, embedder, clock, log })
  const all = await library.vectors.waitingCount()
  const timer = setInterval(() => {
    void library.vectors
      .waitingCount()
      .then((left) => progress.show(ingestText.embedding, all - left, all, ingestText.passages))
  }, 500)
  const stop = () => void indexer.close()
  signal.addEventListener("abort", stop, { once: true })
  try {
    await indexer.settled()
  } finally {
    clearInterval(timer)
    await indexer.close()
  }
  const left = await library.vectors.waitingCount()
  if (left > 0) progress.report(ingestText.passagesLeft(left))
}

const toWords = (error: unknown) =>
  error instanceof AppError ? error.message : ingestText.notEmbedded(failureReason(error))

/** The file, or all readable files of a folder. Links are not followed: they may lead anywhere, and in circles. */
async function filesOf(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new CommandError(ingestText.notFound(path))
  // A pipe may never end.
  if (!found.isFile() && !found.isDirectory()) throw new CommandError(ingestText.notAFile(path))
  if (found.isFile()) return [path]
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined)
  if (!entries) return [path] // reading it as a file fails, too, and is reported
  const inside = await Promise.all(
    entries
      .filter(({ name }) => !name.startsWith(".") && name !== "node_modules")
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(async (entry) => {
        const file = join(path, entry.name)
        if (entry.isDirectory()) return filesOf(file)
        return entry.isFile() && kindOfName(entry.name) ? [file] : []
      }),
  )
  return inside.flat()
}

/** The real path identifies a file, whatever path or link leads to it. */
async function realName(file: string): Promise<string> {
  return (await realpath(file)).replaceAll(sep, "/").slice(-500)
}

/**
 * The path relative to the current folder, or absolute outside of it. It is printed, and earlier versions used it as
 * the id.
 */
function typedName(file: string): string {
  const path = relative(process.cwd(), resolve(file))
  return (path.startsWith("..") || isAbsolute(path) ? resolve(file) : path).replaceAll(sep, "/").slice(-500)
}

const MAX_CHARACTERS = 16 * 1024 * 1024

/**
 * The lines of a file of any size. An error while reading is thrown to the consumer: an `error` event without a
 * listener would end the process.
 */
async function* linesIn(file: string): AsyncGenerator<string> {
  let rest = ""
  for await (const chunk of createReadStream(file, { encoding: "utf8", highWaterMark: 1024 * 1024 })) {
    const lines = (rest + (chunk as string)).split("\n")
    rest = lines.pop() ?? ""
    if (rest.length > MAX_CHARACTERS)
      throw failure("document_too_large", { what: ingestText.lineTooLong, most: `${MAX_CHARACTERS} characters` })
    yield* lines
  }
  if (rest !== "") yield rest
}
