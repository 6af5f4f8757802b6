import { MAX_FILES, MessageFile } from "./message-file.ts"

/** What a result tells of the files that it has brought: its `data`, drawn by the view of this kind. */
export interface ResultFiles {
  readonly kind: "files"
  readonly files: readonly MessageFile[]
}

/** The files that a result has brought, as far as its data names any. */
export function filesIn(data: unknown): readonly MessageFile[] {
  if (typeof data !== "object" || data === null) return NONE
  const { kind, files } = data as { readonly kind?: unknown; readonly files?: unknown }
  if (kind !== "files" || !Array.isArray(files)) return NONE
  return files.slice(0, MAX_FILES).flatMap((file) => MessageFile.safeParse(file).data ?? [])
}

const NONE: readonly never[] = []

/** What can be read as words: all else that is neither an image nor a document has only its bytes to save. */
export const isTextType = (type: string): boolean =>
  type.startsWith("text/") || type === "application/json" || type === "image/svg+xml"
