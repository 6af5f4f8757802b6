import { ChevronDown } from "../../icons/arrows.ts"
import type { ComponentProps } from "react"
import { escapeHidden } from "../../parts/hidden-characters.ts"
import { Plain } from "../../parts/plain.tsx"

interface PickerButtonProps extends ComponentProps<"button"> {
  readonly label: string
  /** What is chosen. */
  readonly shown: string
}

/** What is chosen, and the way to choose something else. */
export function PickerButton({ label, shown, ...rest }: PickerButtonProps) {
  return (
    <button
      type="button"
      aria-label={`${label}: ${escapeHidden(shown)}`}
      className="flex h-8 min-w-0 items-center gap-1 rounded-lg px-2 text-[13px] text-soft hover:bg-sunken hover:text-ink"
      {...rest}
    >
      <span className="truncate">
        <Plain text={shown} />
      </span>
      <ChevronDown className="size-3.5 shrink-0 text-faint" />
    </button>
  )
}
