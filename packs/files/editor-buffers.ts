import { join } from "node:path"
import { failure } from "../../core/pack.ts"
import { type FileBytes, fileHash, fileRefusal, type Folder } from "./folder/folder.ts"
import { MAX_REPLACED } from "./folder/local-writes.ts"
import { displayName } from "./folder/display-name.ts"

/** Files as the person's editor holds them, with unsaved changes. Paths are absolute and in the folder. */
export interface EditorBuffers {
  /** The text of a file, saved or not; undefined if the editor does not have it. */
  read(path: string): Promise<string | undefined>
  /**
   * Writes a text in the editor and on disk. Resolves to the editor's reason if it refuses, and to undefined if it
   * wrote. Rejects if the outcome is unknown. An editor without it can only read.
   */
  readonly write?: ((path: string, text: string) => Promise<string | undefined>) | undefined
}

/** A file as it would be saved now. */
export interface EditorFile extends FileBytes {
  /** The editor holds changes that are not on disk. */
  readonly isUnsaved?: true
}

/** The editor's text of a file of the folder. The disk determines whether the path is in the folder. */
export async function editorText(folder: Folder, path: string, buffers: EditorBuffers): Promise<string | undefined> {
  const found = folder.find(path)
  return found?.type === "file" ? buffers.read(join(folder.root, found.path)) : undefined
}

/** A file with the editor's text. */
export function withText(file: FileBytes, text: string): EditorFile {
  const bytes = Buffer.from(text, "utf8")
  if (bytes.equals(file.bytes)) return file
  return { ...file, bytes, size: bytes.length, hash: fileHash(bytes), isUnsaved: true }
}

/** Refuses a change on disk while the editor has unsaved text, because one of the two would be lost. */
export function requireSaved(file: EditorFile | undefined): void {
  if (file?.isUnsaved)
    throw fileRefusal(
      `${displayName(file.path)} has changes in the editor that are not saved; ask the person to save it first`,
    )
}

/**
 * Writes a file through the editor, then reads the result on disk. An editor that does not answer may have written it.
 */
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
    throw failure("outcome_unknown", {
      problem: `The editor has not said whether it has written ${displayName(path)}.`,
    })
  }
  if (refused !== undefined) throw fileRefusal(`The editor did not write ${displayName(path)}: ${refused}`)
  return isOnDisk() ? "saved" : "unsaved"
}
