import { readFile, stat } from "node:fs/promises"
import { basename } from "node:path"
import type { Client } from "../../client/index.ts"
import { failure } from "../../protocol/errors.ts"
import { MAX_BYTES_OF_FILE, MAX_FILES } from "../../protocol/conversation/message-file.ts"
import type { MessageFile } from "../../protocol/conversation/message-file.ts"
import { namedPaths, toPlace } from "../naming/file-words.ts"
import { untilAnswered } from "./until-answered.ts"

type Uploading = Pick<Client, "uploadFile">

/** Uploads a file of this machine for a message. Its size is looked at first, so that nothing large is read for nothing. */
export async function uploadForMessage(client: Uploading, path: string): Promise<MessageFile> {
  const place = toPlace(path)
  const { size } = await stat(place)
  if (size > MAX_BYTES_OF_FILE) throw failure("message_file_too_large", { most: MAX_BYTES_OF_FILE })
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
export async function uploadNamed(client: Uploading, text: string): Promise<MessageFile[]> {
  const { byState, back } = uploadedOf(client)
  const found = await Promise.all(namedPaths(text).map(async (path) => ({ path, state: await stateOf(path) })))
  const files = new Map<string, MessageFile>()
  for (const { path, state } of found.filter((each) => each.state !== undefined).slice(0, MAX_FILES)) {
    const known = byState.get(state!)
    // Once: where the server no longer has it, the next try uploads it.
    const file = known && back.delete(known.id) ? known : await untilAnswered(() => uploadForMessage(client, path))
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

/** A file that has not been written to since has the same one. */
async function stateOf(path: string): Promise<string | undefined> {
  const place = toPlace(path)
  return stat(place).then(
    (found) => (found.isFile() ? `${place} ${found.mtimeMs} ${found.size}` : undefined),
    () => undefined,
  )
}
