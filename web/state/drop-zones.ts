/** A place on the page that takes files. */
interface DropZone {
  readonly take: (files: FileList) => void
  /** Shows that it would take what is held over the page. */
  readonly light: (isOver: boolean) => void
}

/** Those that are shown now. */
export const dropZones = new Set<DropZone>()

/** The message that is being written takes what no other place is there for. */
export const messageZones = new Set<Pick<DropZone, "take">>()

let brought: File | undefined

/** A file that another page of ours has a place for: whoever goes there takes it along. */
export function bring(file: File): void {
  brought = file
}

export function takeBrought(): File | undefined {
  const file = brought
  brought = undefined
  return file
}
