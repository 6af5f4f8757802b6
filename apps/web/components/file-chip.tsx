import { useEffect, useRef, useState } from "react"
import { escapeHidden } from "../../../client/index.ts"
import type { MessageFile } from "../../../core/protocol/index.ts"
import { client } from "../state/client.ts"
import { t } from "../strings/strings.ts"
import { IconButton } from "./button.tsx"
import { FileText, X } from "./icons.tsx"
import { Plain } from "./plain.tsx"

interface FileChipProps {
  readonly name: string
  /** The file, if it is on this page; a small preview is drawn of an image. */
  readonly blob?: Blob | undefined
  readonly pixels?: PixelSize | undefined
  /** Progress or problem. */
  readonly status?: string | undefined
  readonly isWrong?: boolean
  /** Upload progress between 0 and 1. */
  readonly done?: number
  /** Another action for the file. */
  readonly offer?: { readonly words: string; readonly take: () => void }
  readonly onRetry?: () => void
  readonly onOpen?: () => void
  readonly onRemove?: () => void
}

interface PixelSize {
  readonly width: number
  readonly height: number
}

/** Larger images get no preview. */
const MAX_DRAWN = 4_000_000

/** A small file tile: preview or icon, name and status. */
export function FileChip(props: FileChipProps) {
  const { name, blob, pixels, status, isWrong = false, done, offer, onRetry, onOpen, onRemove } = props
  return (
    <div className="flex max-w-64 items-center gap-2 rounded-lg border border-line bg-sunken px-2 py-1.5 text-sm">
      {blob && pixels && blob.size <= MAX_DRAWN && /^image\/(png|jpeg|gif|webp)$/.test(blob.type) ? (
        <Preview blob={blob} isWide={pixels.width > pixels.height} />
      ) : (
        <FileText className="size-5 shrink-0 text-faint" aria-hidden="true" />
      )}
      <span className="min-w-0">
        {onOpen ? (
          <button
            type="button"
            className="block max-w-full truncate underline"
            title={t("common.saveFile", { name: escapeHidden(name) })}
            onClick={onOpen}
          >
            <Plain text={name} />
          </button>
        ) : (
          <span className="block truncate">
            <Plain text={name} />
          </span>
        )}
        {status && (
          <span
            role={isWrong ? "alert" : "status"}
            className={`block text-xs ${isWrong ? "text-danger" : "text-faint"}`}
          >
            {status}
          </span>
        )}
        {done !== undefined && (
          <progress
            aria-label={t("common.uploadingFile", { name: escapeHidden(name) })}
            className="mt-0.5 block h-1 w-full"
            value={done}
          />
        )}
        {onRetry && (
          <button type="button" className="block text-xs text-accent underline" onClick={onRetry}>
            {t("common.retry")}
          </button>
        )}
        {offer && (
          <button type="button" className="block text-xs text-accent underline" onClick={offer.take}>
            {offer.words}
          </button>
        )}
      </span>
      {onRemove && (
        <IconButton small label={t("common.removeFile", { name: escapeHidden(name) })} onClick={onRemove}>
          <X className="size-3.5" />
        </IconButton>
      )}
    </div>
  )
}

const SIDE = 96

/** Drawn on a canvas: the page's policy allows no images, not even from itself. */
function Preview({ blob, isWide }: { readonly blob: Blob; readonly isWide: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let isGone = false
    // Scaled by the longer side: an extremely thin image scaled by the other would exceed the memory.
    const small = isWide ? { resizeWidth: 2 * SIDE } : { resizeHeight: SIDE }
    createImageBitmap(blob, { ...small, resizeQuality: "medium" }).then(
      (image) => {
        const element = canvas.current
        if (!element || isGone) return image.close()
        element.width = Math.min(image.width, 2 * SIDE)
        element.height = image.height
        element.getContext("2d")?.drawImage(image, 0, 0)
        image.close()
      },
      () => {}, // an image that cannot be drawn shows its name
    )
    return () => {
      isGone = true
    }
  }, [blob, isWide])
  return (
    <canvas
      ref={canvas}
      width={1}
      height={1}
      aria-hidden="true"
      className="h-12 max-w-24 shrink-0 rounded object-cover"
    />
  )
}

/** The data for a preview: the local file, or the one on the server, which is read once. */
export function usePreview(file: MessageFile | undefined, own?: Blob): { blob?: Blob; pixels?: PixelSize } {
  const { id, type = "", size = 0, width, height } = file ?? {}
  const [fetched, setFetched] = useState<Blob>()
  const isAsked = own === undefined && id !== undefined && isDrawn(type) && size <= MAX_DRAWN
  useEffect(() => {
    if (!isAsked) return
    const gone = new AbortController()
    const asked = client.readFile({ params: { id }, signal: gone.signal }).then((answer) => answer.blob())
    asked.then(setFetched, () => {}) // the name stays
    return () => gone.abort()
  }, [id, isAsked])
  const blob = own ?? fetched
  return { ...(blob ? { blob } : {}), ...(width && height ? { pixels: { width, height } } : {}) }
}

const isDrawn = (type: string) => /^image\/(png|jpeg|gif|webp)$/.test(type)

interface MessageFilesProps {
  readonly files: readonly MessageFile[]
  /** Removes the file from the next message. */
  readonly onRemove?: (id: string) => void
  /** The files are results of a tool, so they align with its text. */
  readonly isResult?: boolean
}

/** The files of a sent message or of a result: images with a preview, each with a button to save it. */
export function MessageFiles({ files, onRemove, isResult = false }: MessageFilesProps) {
  return (
    <ul
      aria-label={t("common.files")}
      className={`mb-1 flex flex-wrap gap-2 ${onRemove || isResult ? "" : "justify-end"}`}
    >
      {files.map((file) => (
        <li key={file.id}>
          <MessageFileChip file={file} {...(onRemove ? { onRemove: () => onRemove(file.id) } : {})} />
        </li>
      ))}
    </ul>
  )
}

function MessageFileChip({ file, onRemove }: { readonly file: MessageFile; readonly onRemove?: () => void }) {
  const { id, name } = file
  const [problem, setProblem] = useState<string>()
  const picture = usePreview(file)
  const save = () =>
    client.readFile({ params: { id } }).then(
      (answer) => saveFile(name, answer),
      (error: unknown) => setProblem((error as Error).message),
    )
  return (
    <FileChip
      name={name}
      {...picture}
      status={problem}
      isWrong={problem !== undefined}
      onOpen={() => void save()}
      {...(onRemove ? { onRemove } : {})}
    />
  )
}

/**
 * Saves data as a file. A plain link does not work for an answer of the server, because the browser sends its cookie along
 * but not the secret of the page, and a secret does not belong in an address.
 */
export async function saveFile(name: string, data: Response | Blob | string): Promise<void> {
  const blob = data instanceof Response ? await data.blob() : typeof data === "string" ? new Blob([data]) : data
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The browser has started to save by then. A URL that is not revoked keeps its data in memory until the page is closed.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
