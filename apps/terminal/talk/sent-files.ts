import { readFile, realpath, stat } from "node:fs/promises"
import { basename, isAbsolute, relative, sep } from "node:path"
import { backOff } from "../../../client/back-off.ts"
import type { Client } from "../../../client/index.ts"
import { canRetry } from "../../../client/stream/follow.ts"
import { MAX_FILES, MAX_MESSAGE_FILE_BYTES, type MessageFile } from "../../../core/protocol/conversation/message.ts"
import { failure, hasCode } from "../../../core/protocol/errors.ts"
import { namedPaths, toPlace } from "../naming/file-words.ts"
import type { WorkFolder } from "../terminal-server.ts"

type Uploading = Pick<Client, "uploadFile">

/** Uploads a file of this machine for a message. Its size is looked at first, so that nothing large is read for nothing. */
export async function uploadForMessage(
  client: Uploading,
  path: string,
  workFolder: WorkFolder | undefined,
): Promise<MessageFile> {
  const file = await upload(client, toPlace(path))
  return inFolder(file, toPlace(path), workFolder)
}

/** With its path, if it lies in the work folder. */
async function inFolder(file: MessageFile, place: string, workFolder: WorkFolder | undefined): Promise<MessageFile> {
  const path = workFolder && (await pathInFolder(place, workFolder))
  if (!workFolder || path === undefined) return file
  return { ...file, path, folder: workFolder.isTrusted ? "trusted" : "untrusted" }
}

/** The path of a file in the work folder; undefined for a file outside of it, to which a link in the folder may lead. */
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

/** What was uploaded from where, as it was then, and which of that has come back with words that were taken back. */
interface Uploaded {
  readonly byState: Map<string, MessageFile>
  readonly back: Set<string>
}

const uploadedBy = new WeakMap<object, Uploaded>()

function uploadedOf(client: object): Uploaded {
  const known = uploadedBy.get(client) ?? { byState: new Map(), back: new Set() }
  uploadedBy.set(client, known)
  return known
}

/**
 * The files that words name with `@path`, each uploaded once, however often that is tried; not again what has come back with
 * its words and is as it was. What names no file is a word like any other.
 */
export async function uploadNamed(client: Uploading, text: string, workFolder?: WorkFolder): Promise<MessageFile[]> {
  const { byState, back } = uploadedOf(client)
  const found = await Promise.all(namedPaths(text).map(async (path) => ({ path, state: await stateOf(path) })))
  const files = new Map<string, MessageFile>()
  for (const { path, state } of found.filter((each) => each.state !== undefined).slice(0, MAX_FILES)) {
    const known = byState.get(state!)
    // Once: where the server no longer has it, the next try uploads it.
    const file =
      known && back.delete(known.id) ? known : await untilAnswered(() => uploadForMessage(client, path, workFolder))
    byState.set(state!, file)
    files.set(file.id, file)
  }
  return [...files.values()]
}

/** Of the files of a message that was taken back those that its words do not name themselves, as they are now. */
export async function filesBack(client: object, text: string, files: readonly MessageFile[]): Promise<MessageFile[]> {
  const { byState, back } = uploadedOf(client)
  const states = await Promise.all(namedPaths(text).map(stateOf))
  const named = new Set(states.flatMap((state) => (state === undefined ? [] : [byState.get(state)?.id])))
  for (const { id } of files) if (named.has(id)) back.add(id)
  return files.filter(({ id }) => !named.has(id))
}

/** Whether a path that a person has written leads to a file. */
export const isFile = async (path: string): Promise<boolean> => (await stateOf(path)) !== undefined

/** A file that has not been written to since has the same one. */
async function stateOf(path: string): Promise<string | undefined> {
  const place = toPlace(path)
  return stat(place).then(
    (found) => (found.isFile() ? `${place} ${found.mtimeMs} ${found.size}` : undefined),
    () => undefined,
  )
}

/** Somebody sits here and waits. */
const LONGEST_MS = 5000
/** A server that is there and fails is not asked for ever. */
const MAX_FAILURES = 10

/**
 * Tries until the server has answered, whatever its answer is. While nobody is there this has no end: what it sends has to be
 * something that happens once however often it is sent.
 */
export async function untilAnswered<Value>(attempt: () => Promise<Value>): Promise<Value> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const isAway = hasCode(error, "unreachable")
      if (!canRetry(error) || (!isAway && failures >= MAX_FAILURES)) throw error
      const ms = Math.min(LONGEST_MS, backOff({ failures, askedMs: error.retryAfterMs, random: Math.random }))
      await new Promise((resolve) => setTimeout(resolve, ms).unref())
    }
  }
}
