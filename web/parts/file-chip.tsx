import { useEffect, useRef } from "react"
import { FileText } from "../icons/things.ts"
import { X } from "../icons/signs.ts"
import { IconButton } from "./button.tsx"

interface FileChipProps {
  readonly name: string
  /** The file itself, where it is at hand: of an image a small picture is drawn. */
  readonly blob?: Blob | undefined
  /** How far it is, or what is wrong. */
  readonly status?: string | undefined
  readonly isWrong?: boolean
  /** What else could be done with it. */
  readonly offer?: { readonly words: string; readonly take: () => void }
  readonly onOpen?: () => void
  readonly onRemove?: () => void
}

/** A file, small: its picture or a sheet of paper, its name, and what there is to say of it. */
export function FileChip({ name, blob, status, isWrong = false, offer, onOpen, onRemove }: FileChipProps) {
  return (
    <div className="flex max-w-64 items-center gap-2 rounded-lg border border-line bg-sunken px-2 py-1.5 text-sm">
      {blob && /^image\/(png|jpeg|gif|webp)$/.test(blob.type) ? (
        <Picture blob={blob} />
      ) : (
        <FileText className="size-5 shrink-0 text-faint" aria-hidden="true" />
      )}
      <span className="min-w-0">
        {onOpen ? (
          <button type="button" className="block max-w-full truncate underline" title={`Save ${name}`} onClick={onOpen}>
            {name}
          </button>
        ) : (
          <span className="block truncate">{name}</span>
        )}
        {status && (
          <span
            role={isWrong ? "alert" : "status"}
            className={`block text-xs ${isWrong ? "text-danger" : "text-faint"}`}
          >
            {status}
          </span>
        )}
        {offer && (
          <button type="button" className="block text-xs text-accent underline" onClick={offer.take}>
            {offer.words}
          </button>
        )}
      </span>
      {onRemove && (
        <IconButton small label={`Leave out ${name}`} onClick={onRemove}>
          <X className="size-3.5" />
        </IconButton>
      )}
    </div>
  )
}

const SIDE = 96

/** Drawn by us: a page of ours loads no image from anywhere, not even from itself. */
function Picture({ blob }: { readonly blob: Blob }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let isGone = false
    createImageBitmap(blob, { resizeHeight: SIDE, resizeQuality: "medium" }).then(
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
  }, [blob])
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
