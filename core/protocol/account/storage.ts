/** The kinds of stored data, with a label and the way to free space. */
export const storageKinds = {
  conversations: { label: "Conversations", todo: "Delete conversations that you no longer need" },
  queryResults: {
    label: "Query results",
    todo: "Delete conversations that asked databases, or wait: a result expires when it was not used for some days",
  },
  workspace: { label: "Tasks and notes", todo: "Delete tasks, notes or projects that you no longer need" },
  documents: { label: "Documents", todo: "Delete documents or collections that you no longer need" },
  files: { label: "Files", todo: "Delete conversations with files, or uploaded data, that you no longer need" },
  connections: { label: "Connections and sign-ins", todo: "Delete connections and servers that you no longer need" },
  packs: { label: "Data of packs", todo: "Delete what you no longer need in the tools that store most" },
} as const

/** A kind of stored data, such as files or conversations. */
export type StorageKind = keyof typeof storageKinds

/** How many bytes a user stores, and may store. */
export interface StorageUse {
  readonly bytes: number
  readonly limitBytes: number
  /** Largest first, without empty kinds. */
  readonly kinds: readonly { readonly kind: StorageKind; readonly bytes: number }[]
}

/** The default storage limit of a user. */
export const USUAL_PERSON_BYTES = 2048 * 1024 * 1024

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const

/** Formats a size, such as `1.5 GB`. One unit is 1,024 of the smaller one, as for the limit. */
export function formatBytes(bytes: number): string {
  let [size, unit] = [bytes, 0]
  while (size >= 1000 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1]
  const digits = unit === 0 || size >= 100 ? 0 : 1
  return `${Number(size.toFixed(digits))} ${UNITS[unit]}`
}
