import { readFile, realpath, stat } from "node:fs/promises"
import { basename, isAbsolute, relative, sep } from "node:path"
import { backOff } from "../../../client/back-off.ts"
import type { Client } from "../../../client/index.ts"
import { canRetry } from "../../../client/stream/follow.ts"
import { MAX_FILES, MAX_MESSAGE_FILE_BYTES, type MessageFile } from "../../../core/protocol/conversation/message.ts"
import { failure, hasCode } from "../../../core/protocol/errors.ts"
import { referencedPaths, resolvePath } from "../attachments/file-references.ts"
import type { WorkFolder } from "../terminal-server.ts"

type Uploading = Pick<Client, "uploadFile">

/** Uploads a local file for a message. The size is checked before the file is read. */
export async function uploadForMessage(
  client: Uploading,
  path: string,
  workFolder: WorkFolder | undefined,
): Promise<MessageFile> {
  const file = await upload(client, resolvePath(path))
  return inFolder(file, resolvePath(path), workFolder)
}

/** Adds its path if it is in the work folder. */
async function inFolder(file: MessageFile, place: string, workFolder: WorkFolder | undefined): Promise<MessageFile> {
  const path = workFolder && (await pathInFolder(place, workFolder))
  if (!workFolder || path === undefined) return file
  return { ...file, path, folder: workFolder.isTrusted ? "trusted" : "untrusted" }
}

/** The path within the work folder; undefined for a file outside, to which a link in the folder may point. */
export async function pathInFolder(place: string, { root }: Pick<WorkFolder, "root">): Promise<string | undefined> {
  const within = relative(root, await realpath(place))
  return within === "" || within.startsWith("..") || isAbsolute(within) ? undefined : within.replaceAll(sep, "/")
}

async function upload(client: Uploading, place: string): Promise<MessageFile> {
  const { size } = await stat(place)
  if (size > MAX_MESSAGE_FILE_BYTES) throw failure("message_file_too_large", { most: MAX_MESSAGE_FILE_BYTES })
  const file = new Uint8Array(await readFile(place))
  return client.uploadFile({ file, query: { name: basename(place) } })
}

/**
 * `byFingerprint`: uploaded files by path, time and size. `back`: files of a withdrawn message, which need not be uploaded
 * again.
 */
interface ClientUploads {
  readonly byFingerprint: Map<string, MessageFile>
  readonly back: Set<string>
}

const uploadsByClient = new WeakMap<object, ClientUploads>()

function uploadsOf(client: object): ClientUploads {
  const known = uploadsByClient.get(client) ?? { byFingerprint: new Map(), back: new Set() }
  uploadsByClient.set(client, known)
  return known
}

/**
 * Uploads the files that a text names with `@path`, each once. Files of a withdrawn message that have not changed are
 * reused. An `@` word that is not a file stays text.
 */
export async function uploadReferenced(
  client: Uploading,
  text: string,
  workFolder?: WorkFolder,
): Promise<MessageFile[]> {
  const { byFingerprint, back } = uploadsOf(client)
  const found = await Promise.all(referencedPaths(text).map(async (path) => ({ path, state: await fingerprint(path) })))
  const files = new Map<string, MessageFile>()
  for (const { path, state } of found.filter((each) => each.state !== undefined).slice(0, MAX_FILES)) {
    const known = byFingerprint.get(state!)
    // Reused once: if the server no longer has it, the next attempt uploads it.
    const file =
      known && back.delete(known.id)
        ? known
        : await retryUntilAnswered(() => uploadForMessage(client, path, workFolder))
    byFingerprint.set(state!, file)
    files.set(file.id, file)
  }
  return [...files.values()]
}

/** The files of a withdrawn message that its text does not name. */
export async function unreferencedFiles(
  client: object,
  text: string,
  files: readonly MessageFile[],
): Promise<MessageFile[]> {
  const { byFingerprint, back } = uploadsOf(client)
  const states = await Promise.all(referencedPaths(text).map(fingerprint))
  const named = new Set(states.flatMap((state) => (state === undefined ? [] : [byFingerprint.get(state)?.id])))
  for (const { id } of files) if (named.has(id)) back.add(id)
  return files.filter(({ id }) => !named.has(id))
}

export const isFile = async (path: string): Promise<boolean> => (await fingerprint(path)) !== undefined

/** Identifies the content of a file by path, time and size. */
async function fingerprint(path: string): Promise<string | undefined> {
  const place = resolvePath(path)
  return stat(place).then(
    (found) => (found.isFile() ? `${place} ${found.mtimeMs} ${found.size}` : undefined),
    () => undefined,
  )
}

/** A person waits. */
const MAX_DELAY_MS = 5000
/** A server that responds with errors is not retried forever. */
const MAX_FAILURES = 10

/** Retries until the server responds. While it is unreachable this never ends, so the request must be idempotent. */
export async function retryUntilAnswered<Value>(attempt: () => Promise<Value>): Promise<Value> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const isDisconnected = hasCode(error, "unreachable")
      if (!canRetry(error) || (!isDisconnected && failures >= MAX_FAILURES)) throw error
      const ms = Math.min(MAX_DELAY_MS, backOff({ failures, askedMs: error.retryAfterMs, random: Math.random }))
      await new Promise((resolve) => setTimeout(resolve, ms).unref())
    }
  }
}
