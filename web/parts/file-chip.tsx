import { useEffect, useRef } from "react"
import { FileText } from "../icons/things.ts"
import { X } from "../icons/signs.ts"
import { IconButton } from "./button.tsx"
import { escapeHidden } from "./hidden-characters.ts"
import { Plain } from "./plain.tsx"

interface FileChipProps {
  readonly name: string
  /** The file itself, where it is at hand: of an image whose size the server has told, a small picture is drawn. */
  readonly blob?: Blob | undefined
  readonly pixels?: PixelSize | undefined
  /** How far it is, or what is wrong. */
  readonly status?: string | undefined
  readonly isWrong?: boolean
  /** Between 0 and 1, while it is on its way. */
  readonly done?: number
  /** What else could be done with it. */
  readonly offer?: { readonly words: string; readonly take: () => void }
  readonly onRetry?: () => void
  readonly onOpen?: () => void
  readonly onRemove?: () => void
}

export interface PixelSize {
  readonly width: number
  readonly height: number
}

/** More is not fetched, nor drawn, only to be seen small. */
export const MAX_DRAWN = 4_000_000

/** A file, small: its picture or a sheet of paper, its name, and what there is to say of it. */
export function FileChip(props: FileChipProps) {
  const { name, blob, pixels, status, isWrong = false, done, offer, onRetry, onOpen, onRemove } = props
  return (
    <div className="flex max-w-64 items-center gap-2 rounded-lg border border-line bg-sunken px-2 py-1.5 text-sm">
      {blob && pixels && blob.size <= MAX_DRAWN && /^image\/(png|jpeg|gif|webp)$/.test(blob.type) ? (
        <Picture blob={blob} isWide={pixels.width > pixels.height} />
      ) : (
        <FileText className="size-5 shrink-0 text-faint" aria-hidden="true" />
      )}
      <span className="min-w-0">
        {onOpen ? (
          <button
            type="button"
            className="block max-w-full truncate underline"
            title={`Save ${escapeHidden(name)}`}
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
          <progress aria-label={`Uploading ${escapeHidden(name)}`} className="mt-0.5 block h-1 w-full" value={done} />
        )}
        {onRetry && (
          <button type="button" className="block text-xs text-accent underline" onClick={onRetry}>
            Try again
          </button>
        )}
        {offer && (
          <button type="button" className="block text-xs text-accent underline" onClick={offer.take}>
            {offer.words}
          </button>
        )}
      </span>
      {onRemove && (
        <IconButton small label={`Leave out ${escapeHidden(name)}`} onClick={onRemove}>
          <X className="size-3.5" />
        </IconButton>
      )}
    </div>
  )
}

const SIDE = 96

/** Drawn by us: a page of ours loads no image from anywhere, not even from itself. */
function Picture({ blob, isWide }: { readonly blob: Blob; readonly isWide: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let isGone = false
    // By its longer side: a line of pixels, made so high, would be longer than the memory is large.
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
      () => {}, // what cannot be drawn is a name
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
