import { FileUp } from "./icons.tsx"
import { useEffect, useRef, useState } from "react"
import { dropZones } from "../state/drop-zones.ts"
import { toast } from "../state/toasts.ts"
import { Button } from "./button.tsx"
import { t } from "../strings/strings.ts"

interface DropZoneProps {
  /** For screen readers. */
  readonly label: string
  readonly says: string
  readonly choose: string
  readonly accept: string
  readonly multiple?: boolean
  readonly isBusy: boolean
  readonly onFiles: (files: readonly File[]) => void
  readonly className?: string
}

/** Takes files that are chosen or dropped on it, or anywhere on the page if it is the only drop zone. */
export function DropZone({
  label,
  says,
  choose,
  accept,
  multiple = false,
  isBusy,
  onFiles,
  className = "",
}: DropZoneProps) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null) => {
    const taken = [...(files ?? [])].slice(0, multiple ? undefined : 1)
    if (taken.length === 0) return
    // Files dropped during an upload are refused with a message.
    if (isBusy) return toast(t("common.dropBusy"), "bad")
    if (files && files.length > taken.length) toast(t("common.dropOne"))
    onFiles(taken)
  }
  const latest = useRef(take)
  useEffect(() => {
    latest.current = take
  })
  useEffect(() => {
    const zone = { take: (files: FileList) => latest.current(files), light: setOver }
    dropZones.add(zone)
    return () => void dropZones.delete(zone)
  }, [])
  return (
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer.files)
      }}
      className={`flex flex-wrap items-center gap-3 rounded-xl border border-dashed px-4 text-sm text-soft ${isOver ? "border-accent bg-accent-soft" : "border-line bg-sunken"} ${className}`}
    >
      <FileUp className="size-5 shrink-0 text-faint" aria-hidden="true" />
      <p role="status" className="min-w-40 flex-1 [overflow-wrap:anywhere]">
        {says}
      </p>
      <Button disabled={isBusy} onClick={() => input.current?.click()}>
        {choose}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple={multiple}
        aria-label={label}
        accept={accept}
        onChange={(event) => {
          take(event.target.files)
          event.target.value = "" // so that the same file can be chosen again
        }}
      />
    </div>
  )
}
