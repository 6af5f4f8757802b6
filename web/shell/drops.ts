import { useEffect } from "react"
import { bring, dropZones, messageZones } from "../state/drop-zones.ts"
import { navigate } from "../state/router.ts"
import { toast } from "../state/toasts.ts"

const TABLE = /\.(csv|tsv)$/i
const NO_PLACE =
  "There is no place for this file here. Documents are dropped in the Library, CSV files in Settings under Connections."

/**
 * A file that misses its place would be opened by the browser, in the place of the page. Where the page has one place for
 * files it goes there, a table goes to where tables are taken, and otherwise the person is told where files belong.
 */
export function useDrops(): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.defaultPrevented || !wouldLeave(event)) return
      event.preventDefault()
      const [only, ...more] = dropZones
      // Of a drop with no effect nobody is told, and somebody would wonder what became of their file.
      if (event.dataTransfer) event.dataTransfer.dropEffect = carriesFiles(event) ? "copy" : "none"
      if (carriesFiles(event) && more.length === 0) only?.light(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) for (const zone of dropZones) zone.light(false)
    }
    const drop = (event: DragEvent) => {
      for (const zone of dropZones) zone.light(false)
      if (event.defaultPrevented || !wouldLeave(event)) return
      event.preventDefault()
      const { files } = event.dataTransfer ?? {}
      const [file] = files ?? []
      if (!files || !file) return
      const [only, ...more] = dropZones
      if (only && more.length === 0) return only.take(files)
      if (more.length > 0) return toast("There are several places for files here: drop it on the one that you mean.")
      const [message] = messageZones
      if (message) return message.take(files)
      if (!TABLE.test(file.name)) return toast(NO_PLACE)
      bring(file)
      navigate("/settings/connections")
    }
    window.addEventListener("dragover", over)
    window.addEventListener("dragleave", leave)
    window.addEventListener("drop", drop)
    return () => {
      window.removeEventListener("dragover", over)
      window.removeEventListener("dragleave", leave)
      window.removeEventListener("drop", drop)
    }
  }, [])
}

const carriesFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false

/** Files, and links that are not dropped into a field, would be opened. Text that is moved about in a field is left alone. */
function wouldLeave(event: DragEvent): boolean {
  if (carriesFiles(event)) return true
  const isField = event.target instanceof HTMLElement && event.target.closest("input, textarea, [contenteditable]")
  return !isField && (event.dataTransfer?.types.includes("text/uri-list") ?? false)
}
