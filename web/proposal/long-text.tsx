import { type ReactNode, useEffect, useId, useState } from "react"
import { Plain } from "../parts/plain.tsx"
import { count } from "../parts/words.ts"
import { isLongText, MAX_CHARACTERS } from "./is-long.ts"
import { useUnseen } from "./unseen.ts"

interface LongTextProps {
  readonly text: string
  readonly tone?: "added" | "removed" | "gone"
  readonly mono?: boolean
  /** Drawn in place of the plain text, which then only says how long it is. */
  readonly children?: ReactNode
}

const TONES = { added: "", gone: "text-danger", removed: "text-danger line-through decoration-1" }

/**
 * Text that is cut while it is long, with a way to see all of it. The card around it counts what is cut: nothing is agreed
 * to that could not have been read.
 */
export function LongText({ text, tone, mono = false, children }: LongTextProps) {
  const isLong = isLongText(text)
  const unseen = useUnseen()
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const isShown = !isLong || isOpen || unseen?.showAll === true
  useEffect(() => {
    if (isShown) return
    unseen?.add(id)
    return () => unseen?.remove(id)
  }, [isShown, id, unseen?.add, unseen?.remove])
  const look = `whitespace-pre-wrap ${mono ? "font-mono text-[12.5px]" : ""} ${tone ? TONES[tone] : ""}`
  if (!isLong) return <span className={look}>{children ?? <Plain text={text} />}</span>
  return (
    <span className="block">
      <div
        className={`${look} ${isShown ? "" : "max-h-28 overflow-hidden [mask-image:linear-gradient(black_55%,transparent)]"}`}
      >
        {children ?? <Plain text={isShown ? text : text.slice(0, MAX_CHARACTERS * 2)} />}
      </div>
      {!isShown && (
        <button
          type="button"
          onClick={() => setOpen(true)}
          className="mt-1 text-[13px] font-medium text-accent underline underline-offset-2"
        >
          Show all {count(text.length, "character")}
        </button>
      )}
    </span>
  )
}
