import { Store } from "./store.ts"

/** A component that takes dropped files. */
interface DropZone {
  readonly take: (files: FileList) => void
  /** Highlights the zone while files are dragged over the page. */
  readonly light: (isOver: boolean) => void
}

/** The visible ones. */
export const dropZones = new Set<DropZone>()

interface MessageZone {
  readonly take: (files: Iterable<File>) => void
  /** Selects the database that a dropped table has become. */
  readonly onDatabase: (connectionId: string) => void
}

/** The draft message takes files that no other zone takes. */
export const messageZones = new Set<MessageZone>()

/** A dropped table, about which the person is asked. */
export interface DroppedTable {
  readonly file: File
  /** Attaches it to the draft message; undefined without one, or if it is attached already. */
  readonly attach: (() => void) | undefined
  /** Undefined without a draft message. */
  readonly onDatabase: ((connectionId: string) => void) | undefined
}

/** Dropped tables without an answer; the person is asked about the first. */
export const droppedTables = new Store<readonly DroppedTable[]>([])

export const askAbout = (tables: readonly DroppedTable[]): void =>
  droppedTables.set([...droppedTables.value, ...tables])
