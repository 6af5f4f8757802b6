import { Search } from "../icons/signs.ts"
import type { ComponentProps } from "react"

interface SearchFieldProps extends Omit<ComponentProps<"input">, "onChange" | "value"> {
  readonly label: string
  readonly value: string
  readonly onChange: (words: string) => void
}

export function SearchField({ label, value, onChange, ...rest }: SearchFieldProps) {
  return (
    <div className="relative min-w-40 flex-1">
      <Search className="pointer-events-none absolute top-2.5 left-3 size-4 text-faint" />
      <input
        {...rest}
        type="search"
        value={value}
        aria-label={label}
        placeholder={label}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || value === "") return
          event.preventDefault()
          onChange("")
        }}
        className="field h-9 pl-9 text-sm"
      />
    </div>
  )
}

/** Whether one of the texts has the words in it. */
export function hasWords(words: string, ...texts: readonly (string | null)[]): boolean {
  const wanted = words.trim().toLowerCase()
  return wanted === "" || texts.some((text) => text?.toLowerCase().includes(wanted))
}
