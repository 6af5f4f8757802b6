import { isImageType, type MessageFile } from "../protocol/conversation/message.ts"
import { failure } from "../protocol/errors.ts"
import { type FileId, isId, type UserId } from "../protocol/ids.ts"
import { BYTES_OF_FILES } from "../compose/settings.ts"
import { requireSight } from "../server/conversation/settings.ts"
import { toNewFile } from "../server/files/uploads.ts"
import type { PersonalParts } from "./parts.ts"

/** A file to attach to a message: an image, a PDF or text, of at most 25 MB. Its content decides what it is. */
export interface NewFile {
  /** The name that the model sees. */
  readonly name: string
  readonly data: Uint8Array | Blob
  /** The media type. Throws `file_refused` if the content is something else. */
  readonly type?: string
}

/** A file of a message or of a tool's result, with its content. */
export interface StoredFile {
  readonly name: string
  /** The media type, detected from the content. */
  readonly type: string
  readonly data: Uint8Array
}

/** The files of one user's conversations. */
export interface Files {
  /** Returns a file by the id that `message.files` or a result names. */
  read(id: string): Promise<StoredFile>
}

export function openPersonFiles(parts: PersonalParts): Files {
  const { messageFiles } = parts.store
  return {
    async read(id) {
      const user = await parts.user()
      const file = isId("file", id) ? await messageFiles.find(user, id) : undefined
      const data = file && (await parts.ports.files?.bytes(user, file.id))
      if (!file || !data) throw failure("not_found")
      return { name: file.name, type: file.type, data }
    },
  }
}

interface Attaching {
  readonly user: UserId
  /** Returns the model that would be sent the files; null for the default. */
  model(): Promise<string | null>
}

/**
 * Checks and stores files. A message that is not sent after all leaves files without a use, which are deleted after a
 * day.
 */
export async function storeNewFiles(
  { store, models }: PersonalParts,
  files: readonly NewFile[],
  { user, model }: Attaching,
): Promise<FileId[]> {
  const checked = []
  for (const { name, type = "", data } of files)
    checked.push(
      await toNewFile(data instanceof Blob ? new Uint8Array(await data.arrayBuffer()) : data, { name, type }),
    )
  if (checked.some(({ type }) => isImageType(type))) await requireSight(models, user, await model())
  const ids: FileId[] = []
  for (const file of checked) ids.push((await store.messageFiles.keep(user, file, BYTES_OF_FILES)).id)
  return [...new Set(ids)]
}

/** True if these are the files that the message has, except those that the user has deleted since. */
export async function areSameFiles(
  { messageFiles }: PersonalParts["store"],
  user: UserId,
  { recorded = [], ids }: { readonly recorded: readonly MessageFile[] | undefined; readonly ids: readonly FileId[] },
): Promise<boolean> {
  const others = recorded.filter(({ id }) => !ids.includes(id))
  const deleted = await Promise.all(others.map(async ({ id }) => !(await messageFiles.find(user, id))))
  return deleted.every(Boolean) && ids.length === recorded.length
}
