import { Store } from "./store.ts"

/** A place on the page that takes files. */
interface DropZone {
  readonly take: (files: FileList) => void
  /** Shows that it would take what is held over the page. */
  readonly light: (isOver: boolean) => void
}

/** Those that are shown now. */
export const dropZones = new Set<DropZone>()

interface MessageZone {
  readonly take: (files: Iterable<File>) => void
  /** Has what is being written ask the database that a dropped table has become. */
  readonly onDatabase: (connectionId: string) => void
}

/** The message that is being written takes what no other place is there for. */
export const messageZones = new Set<MessageZone>()

/** A table that was dropped, of which its person says what becomes of it. */
export interface DroppedTable {
  readonly file: File
  /** Puts it into the message that is being written; undefined where none is, or where it is in it already. */
  readonly attach: (() => void) | undefined
  /** Undefined where no message is being written. */
  readonly onDatabase: ((connectionId: string) => void) | undefined
}

/** Those that wait for an answer; the first is asked about. */
export const droppedTables = new Store<readonly DroppedTable[]>([])

export const askAbout = (tables: readonly DroppedTable[]): void =>
  droppedTables.set([...droppedTables.value, ...tables])
