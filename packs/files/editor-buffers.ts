import { join } from "node:path"
import { failure } from "../../core/pack.ts"
import { type FileBytes, fileHash, fileRefusal, type Folder } from "./folder/folder.ts"
import { MAX_REPLACED } from "./folder/local-writes.ts"
import { shown } from "./folder/shown.ts"

/** Files as the person's editor holds them, which may be newer than what is on disk. Paths are absolute and lie in the folder. */
export interface EditorBuffers {
  /** The text of a file, saved or not; undefined where the editor does not tell. */
  read(path: string): Promise<string | undefined>
  /**
   * Writes a text in the editor and on disk. Resolves to the editor's reason if it refuses, and to undefined if it
   * wrote. Rejects if the outcome is unknown. An editor without it can only read.
   */
  readonly write?: ((path: string, text: string) => Promise<string | undefined>) | undefined
}

/** A file as it would be saved now. */
export interface HeldFile extends FileBytes {
  /** The editor holds changes that are not on disk. */
  readonly isUnsaved?: true
}

/** The editor's text of a file of the folder. The disk determines whether the path is in the folder. */
export async function heldText(folder: Folder, path: string, buffers: EditorBuffers): Promise<string | undefined> {
  const found = folder.find(path)
  return found?.type === "file" ? buffers.read(join(folder.root, found.path)) : undefined
}

/** A file as an editor has it. */
export function withText(file: FileBytes, text: string): HeldFile {
  const bytes = Buffer.from(text, "utf8")
  if (bytes.equals(file.bytes)) return file
  return { ...file, bytes, size: bytes.length, hash: fileHash(bytes), isUnsaved: true }
}

/** A change on disk below a buffer that has not been saved would be lost, or lose what the person has written. */
export function requireSaved(file: HeldFile | undefined): void {
  if (file?.isUnsaved)
    throw fileRefusal(
      `${shown(file.path)} has changes in the editor that are not saved; ask the person to save it first`,
    )
}

/** Has the editor write a file, and looks at what came of it on disk. One that falls silent may have written. */
export async function writeInEditor(
  folder: Folder,
  write: NonNullable<EditorBuffers["write"]>,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<"saved" | "unsaved"> {
  const wanted = fileHash(Buffer.from(text, "utf8"))
  const isOnDisk = () => folder.find(path) !== undefined && folder.read(path, MAX_REPLACED).hash === wanted
  let refused: string | undefined
  try {
    refused = await write(join(folder.root, path), text)
  } catch {
    if (isOnDisk()) return "saved"
    throw failure("outcome_unknown", { problem: `The editor has not said whether it has written ${shown(path)}.` })
  }
  if (refused !== undefined) throw fileRefusal(`The editor did not write ${shown(path)}: ${refused}`)
  return isOnDisk() ? "saved" : "unsaved"
}
