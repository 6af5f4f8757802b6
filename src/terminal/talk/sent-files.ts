import { readFile, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, join, resolve } from "node:path"
import type { Client } from "../../client/index.ts"
import { failure } from "../../protocol/errors.ts"
import { MAX_BYTES_OF_FILE, MAX_FILES } from "../../protocol/conversation/message-file.ts"
import type { MessageFile } from "../../protocol/conversation/message-file.ts"
import { toShown } from "../shown.ts"
import { untilAnswered } from "./until-answered.ts"

type Uploading = Pick<Client, "uploadFile">

/** Uploads a file of this machine for a message. Its size is looked at first, so that nothing large is read for nothing. */
export async function uploadForMessage(client: Uploading, path: string): Promise<MessageFile> {
  const place = resolve(path.startsWith("~/") ? join(homedir(), path.slice(2)) : path)
  const { size } = await stat(place)
  if (size > MAX_BYTES_OF_FILE) throw failure("message_file_too_large", { most: MAX_BYTES_OF_FILE })
  const file = new Uint8Array(await readFile(place))
  return client.uploadFile({ file, query: { name: basename(place) } })
}

/** `@path`, or `@"a path"`, at the beginning of a word. */
const NAMED = /(?:^|\s)@(?:"([^"\n]{1,1000})"|([^\s"@]{1,1000}))/g

/** The files that words name with `@path`, each uploaded once, however often that is tried. What names no file is a word like any other. */
export async function uploadNamed(client: Uploading, text: string): Promise<MessageFile[]> {
  const paths = [...text.matchAll(NAMED)].map(([, quoted, plain = ""]) => quoted ?? plain.replace(/[.,;:!?)]$/, ""))
  const found = await Promise.all([...new Set(paths)].map(async (path) => ((await isFile(path)) ? [path] : [])))
  const files = new Map<string, MessageFile>()
  for (const path of found.flat().slice(0, MAX_FILES)) {
    const file = await untilAnswered(() => uploadForMessage(client, path))
    files.set(file.id, file)
  }
  return [...files.values()]
}

/** What goes along with a message, for its person to see: "with a.csv (3 KB)". */
export const filesWords = (files: readonly MessageFile[]): string =>
  `with ${files.map(({ name, size }) => `${toShown(name)} (${Math.ceil(size / 1024).toLocaleString("en")} KB)`).join(", ")}`

async function isFile(path: string): Promise<boolean> {
  const place = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path
  return stat(place).then(
    (found) => found.isFile(),
    () => false,
  )
}
