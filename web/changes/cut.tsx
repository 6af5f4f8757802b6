import type { ReactNode } from "react"
import { type AnyBlock, isLongBlock } from "./blocks.ts"
import { useOpened } from "./opened.ts"

interface CutProps {
  readonly block: AnyBlock
  /** How much there is, in words: "4,000 characters". */
  readonly size: string
  readonly children: ReactNode
}

/** Part of a card that is cut while it is long, with a way to see all of it: nothing is agreed to that could not be read. */
export function Cut({ block, size, children }: CutProps) {
  const [isOpened, open] = useOpened(block.key)
  if (!isLongBlock(block) || isOpened) return children
  return (
    <div>
      <div className="max-h-28 overflow-hidden [mask-image:linear-gradient(black_55%,transparent)]">{children}</div>
      <button
        type="button"
        onClick={open}
        className="mt-1 text-[13px] font-medium text-accent underline underline-offset-2"
      >
        Show all {size}
      </button>
    </div>
  )
}
